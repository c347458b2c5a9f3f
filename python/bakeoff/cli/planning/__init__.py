"""What `bakeoff plan` prints beside the plan: blocks, reach, searches."""
