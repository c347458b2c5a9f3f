"""The example paper: three small servers made of Debian's packages, measured, disclosed and printed."""
