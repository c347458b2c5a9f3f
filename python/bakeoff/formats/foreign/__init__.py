"""Results of other tools in one form, before they are a run or an audit: what a file prints, number by number.

    printed.py  a number as it is printed, and the interval of values that it may stand for
    units.py    the units of results, from the words of headings
    table.py    contender × load × metric: rows of such numbers, each with its place in the file

Importers (`bakeoff.formats.importers`) make tables of files. Runs and audits are made of tables.
"""
