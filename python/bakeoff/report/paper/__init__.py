"""What an author adds: text, tables, disclosure, the test bed."""
