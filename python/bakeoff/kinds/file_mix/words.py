"""Words for the mix of file operations."""

from bakeoff.kinds.files.words import FILE_WORDS

PART = FILE_WORDS
