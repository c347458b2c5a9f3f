"""Words for file work of any kind."""

from __future__ import annotations

from bakeoff.report.narrate.kind import WordsPart

FILE_WORDS = WordsPart(
    client_option_words={
        "direct": {"yes": "past the page cache (O_DIRECT)", "no": "through the page cache"},
        "dsync": {"yes": "with O_DSYNC", "no": "without O_DSYNC"},
        "sync": {"yes": "with O_SYNC", "no": "without O_SYNC"},
        "fsync": {"yes": "with fsync in the measured time", "no": "without fsync"},
        "mmap": {"yes": "through mapped memory", "no": "by read and write"},
        "flush": {"yes": "with fsync where clients asked for it", "no": "without fsync"},
    },
)
