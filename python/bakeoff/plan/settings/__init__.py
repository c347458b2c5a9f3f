"""Settings that suites share."""
