"""Settings of web suites."""
