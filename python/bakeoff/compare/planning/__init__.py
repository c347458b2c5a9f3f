"""How many blocks a plan needs, and what noise a set-up has."""
