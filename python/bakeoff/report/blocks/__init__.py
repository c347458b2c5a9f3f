"""What a report is made of, and how it fits a page or a terminal."""
