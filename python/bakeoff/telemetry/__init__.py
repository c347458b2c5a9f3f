"""What machines and servers have to do while a trial runs, looked at from outside."""
