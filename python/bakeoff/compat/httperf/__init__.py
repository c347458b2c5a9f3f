"""`bakeoff httperf`: httperf's options and output on the engine of this program."""
