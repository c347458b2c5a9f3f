"""Claims of a text, such as "78 % better latency", calculated again from its tables.

claim.py    what a claim says
text.py     claims in sentences
listed.py   claims in a CSV file
files.py    the claims of both kinds of file
reading.py  every way in which tables give a percentage
check.py    which of these ways reproduces a claim
"""
