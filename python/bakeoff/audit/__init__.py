"""Results held to the arithmetic that every result must obey, by intervals of their printed digits.

    interval.py  intervals, and what is calculated from them
    table.py     a table of printed numbers: columns with what they are figures of, rows with their lines
    headings.py  what the words of a heading say
    checks/      one file a check: a function from a table to findings; a row each in `checks/__init__.py`
    repairs.py   the slip of a hand that would explain a number
    claims/      percentages of a text, calculated again
    audit.py     all checks of all tables

It finds, and makes no sentence: `report/narrate/audit/` has the words.
"""
