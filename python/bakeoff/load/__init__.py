"""Load as values: load steps, arrivals, the search for a capacity."""
