"""What a trial of an application server tells."""

from __future__ import annotations

from bakeoff.store.records.figures import Count, Figures, Number, Shape


class Server(Shape):
    """What the server used, by its own word, in `watched_s` seconds of the window."""

    cpu_share: Number | None = None
    watched_s: Number | None = None
    disk_read_bytes: Count | None = None
    disk_written_bytes: Count | None = None


class Verified(Shape):
    """What was checked while the trial went on: records that reads gave, of them those `damaged` or `lost`, and other
    answers that were wrong.
    """

    records: Count = 0
    damaged: Count = 0
    lost: Count = 0
    wrong_results: Count = 0


class ReadBack(Shape):
    """Of so many confirmed `writes` of records so many `records` had to hold what was written last when the trial was
    over; so many were `asked` for again, and `read`, on new connections.
    """

    writes: Count
    records: Count
    asked: Count
    read: Count
    damaged: Count
    lost: Count

    @property
    def unread(self) -> int:
        """Records that the server did not give back."""
        return max(0, self.asked - self.read)


class WorkedAgain(Shape):
    """Answers to processor work; those of them that were worked out again after the trial, and were wrong."""

    answers: Count
    checked: Count
    wrong: Count


class Times(Shape):
    """Replies that told queue and service times; those whose times were longer than the whole transaction, and those
    whose times were shorter than the work takes on any processor.
    """

    told: Count = 0
    too_long: Count = 0
    too_short: Count = 0

    @property
    def impossible(self) -> int:
        """Replies whose times cannot be."""
        return self.too_long + self.too_short


class AppFigures(Figures):
    """`server` is there when the server told anything of itself, `read_back` and `worked_again` when it was looked
    again after the trial, and there was anything to look at.
    """

    server: Server | None = None
    verified: Verified = Verified()
    read_back: ReadBack | None = None
    worked_again: WorkedAgain | None = None
    times: Times = Times()


PART = AppFigures
