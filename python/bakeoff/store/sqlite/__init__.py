"""The run file: tables, rows, seals."""
