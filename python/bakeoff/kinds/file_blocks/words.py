"""Words for regions of files and disks."""

from bakeoff.kinds.files.words import FILE_WORDS

PART = FILE_WORDS
