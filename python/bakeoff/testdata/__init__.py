"""What contenders serve and hold: web pages, mail accounts, files by size."""
