"""Sessions of several requests to web servers, with values taken from replies."""
