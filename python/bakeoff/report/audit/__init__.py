"""An audit of foreign results in the forms that people and programs read: lines, a page, JSON."""
