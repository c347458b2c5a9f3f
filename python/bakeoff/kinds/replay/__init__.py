"""The requests of an access log at its moments."""
