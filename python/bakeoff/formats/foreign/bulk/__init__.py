"""Rows of many plain numbers as arrays. What is not plain is read number by number.

digits.py   the numbers of a text: digits, and at most a point
figures.py  printed numbers below each other, and what each check asks of them
rows.py     rows of a table that are made when somebody looks at them
"""
