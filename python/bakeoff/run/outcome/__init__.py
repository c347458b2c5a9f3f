"""From the engine's result to a stored trial."""
