"""Words for the matrix of file operations."""

from bakeoff.kinds.files.words import FILE_WORDS

PART = FILE_WORDS
