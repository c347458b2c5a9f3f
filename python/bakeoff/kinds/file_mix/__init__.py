"""File operations of office applications, or a recorded loadfile."""
