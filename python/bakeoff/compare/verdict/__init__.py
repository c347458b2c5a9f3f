"""What follows from the estimates: order, crossovers, what is open."""
