"""What machines and servers have to do while a trial runs, sampled from outside."""
