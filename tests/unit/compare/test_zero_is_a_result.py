"""What a contender fails at counts against it, by the load step, the block and the cell; it is never left out."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bakeoff.compare import compare_run
from bakeoff.load.load_step import Clients
from bakeoff.report.blocks.tree import Table
from bakeoff.report.compose import compose
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.narrate.warned import warnings_of
from bakeoff.store.records.run_records import RunRecord, TrialRecord
from bakeoff.store.records.trial_parts import EMPTY_SUMMARY
from tests.told import headline_of
from tests.unit.compare.synthetic import FAST, SLOW, Server, change, run
from tests.unit.compare.synthetic_cells import blocks_run
from tests.unit.report.shown import shown

TWIN = replace(FAST, name="twin")


def starving(record: RunRecord, name: str, clients: int) -> RunRecord:
    """The last client of `name` gets nothing, the first what it would have got."""

    def starve(trial: TrialRecord) -> TrialRecord:
        first, *others, last = trial.per_client
        raised = replace(first, operations=first.operations + last.operations, bytes_in=first.bytes_in + last.bytes_in)
        return replace(trial, per_client=(raised, *others, replace(last, operations=0, bytes_in=0)))

    trials = tuple(starve(t) if (t.contender, t.load_step.clients) == (name, clients) else t for t in record.trials)
    return replace(record, trials=trials)


@pytest.mark.parametrize("kind", ["web", "app"])
def test_a_faster_server_that_starves_a_client_loses_that_load_step(kind: str) -> None:
    """Seen: apache starves a client in 6 of 12 trials and is better 2.44 ×, "without the load step at 4 clients"."""
    faster = Server("apache", 100_000.0, 0.04)
    record = starving(replace(run((faster, rename(SLOW, "slow")), load_steps=(1, 4)), kind=kind), "apache", 4)
    found = compare_run(record)
    (pair,) = found.pairs
    assert [load_step.x for load_step in pair.primary.load_steps] == [1, 4], "no load step is left out"
    assert pair.primary.verdict.winner != "apache"
    assert pair.curves[0].points[1].verdict.winner == "slow"
    assert pair.primary.forfeited["apache"] == 6


def rename(server: Server, name: str) -> Server:
    return replace(server, name=name)


@pytest.mark.parametrize("name", ["nginx", "twin"])
@pytest.mark.parametrize("load_step", [1, 8])
def test_the_one_of_two_equals_that_breaks_at_a_load_step_loses(name: str, load_step: int) -> None:
    other = "twin" if name == "nginx" else "nginx"
    broken = change(run((FAST, TWIN), blocks=8), name, load_step, None, state="failed", reason="it died")
    found = compare_run(broken)
    assert found.pairs[0].primary.verdict.winner == other
    lost = [line.split() for line in shown(broken, width=300).splitlines() if "it died" in line]
    mark = "●" if name == "nginx" else "■"
    assert [mark, name, f"{load_step}", "8", "the", "whole", "trial", "it", "died"] in lost
    assert f"8 of 24 pairs forfeited by {name} counted as 10 times slower" in headline_of(found)[0]


def test_a_loss_makes_the_winner_no_less_certain() -> None:
    """A t interval over blocks would be wider for one block with a loss, and the lead no longer certain."""
    record = run((FAST, rename(SLOW, "other")), blocks=6)
    assert compare_run(record).pairs[0].primary.verdict.winner == "nginx"
    for load_step in record.load_steps:
        lost = change(record, "other", load_step.clients, (4,), state="failed", reason="it died")
        assert compare_run(lost).pairs[0].primary.verdict.winner == "nginx"


def test_the_shape_tells_the_fall_that_the_losses_make() -> None:
    record = change(run(blocks=6), "nginx", 8, (1, 2, 3), state="failed", reason="it died")
    (nginx, _) = compare_run(record).contenders
    assert "flat" not in sentence(nginx.shape) and "3 of 6 trials of the last load step were lost" in sentence(
        nginx.shape
    )
    assert nginx.last_share_of_peak < 0.8


def test_a_rate_of_nothing_is_lost() -> None:
    none = {"operations": 0, "operations_per_s": 0.0, "service": EMPTY_SUMMARY, "per_client": ()}
    found = compare_run(change(run((FAST, TWIN), blocks=8), "nginx", 8, None, **none))
    assert found.pairs[0].primary.verdict.winner == "twin"
    assert not any("all 24 planned" in repr(section) for section in compose(run(), found).sections)


def test_a_load_step_at_which_both_break_is_left_out_by_name() -> None:
    record = change(run(blocks=8), "nginx", 8, None, state="failed", reason="it died")
    record = change(record, "apache", 8, None, state="failed", reason="it died, too")
    end = compare_run(record).pairs[0].primary
    assert (end.load_steps, end.load_steps_left_out, end.blocks) == ((Clients(1), Clients(4)), (Clients(8),), 8)
    both = change(change(run(blocks=8), "nginx", 8, (2,), state="failed"), "apache", 8, (2,), state="failed")
    assert compare_run(both).pairs[0].primary.blocks == 8, "a tie, not a hole"


def test_voided_trials_are_still_left_out_and_named() -> None:
    record = change(run(blocks=8), "nginx", 8, (2,), state="voided", reason="stopped for 1.5 s")
    found = compare_run(record)
    assert found.pairs[0].primary.blocks == 7 and found.forfeited == ()
    (left_out,) = (line.split()[1:] for line in shown(record, width=300).splitlines() if "stopped for" in line)
    assert left_out == ["●", "nginx", "8", "2", "voided", "stopped", "for", "1.5", "s"]


def empty_cells(blocks: tuple[int, ...], share: float = 1.0) -> RunRecord:
    """Of cells in which both are equal, one that moved nothing in some blocks for the second contender."""

    def spoil(contender: str, block: int, cell: dict[str, Any]) -> None:
        if contender == "cifs" and block in blocks and cell["record_bytes"] == 4096 and "random" in cell["test"]:
            cell.update(operations=0, bytes=0, rate_kib_s=0.0, empty=True)

    return blocks_run(lambda test, file, record: share, change=spoil)


def test_empty_cells_decide_and_are_named_by_cell_block_and_contender() -> None:
    """Seen: headline 25.1 ×, card 1.87 ×, table 187.5 %, 3 blocks of 6, "all 12 planned trials ran and count"."""
    found = compare_run(empty_cells((1, 3, 5), share=1.3))
    (pair,) = found.pairs
    assert found.cells is not None
    (surface,) = found.cells.pairs
    assert pair.primary.blocks == 6 and pair.primary.blocks_left_out == ()
    assert surface.overall.ratio == pytest.approx(pair.primary.ratio), "table and card"
    assert (surface.overall.low, surface.overall.high) == pytest.approx((pair.primary.low, pair.primary.high))
    assert surface.overall.blocks == 6
    assert "3 of 6 pairs with empty cells of cifs counted as 10 times slower" in headline_of(found)[0]
    assert {(t.contender, t.load_step.clients, t.block) for t in found.forfeited} == {
        ("cifs", 1, block) for block in (1, 3, 5)
    }
    assert all(t.cell.endswith("4 KiB") for t in found.forfeited)
    page = repr(compose(empty_cells((1, 3, 5)), found))
    assert "Forfeited trials" in page and "planned trials ran and count" not in page
    reasons = {sentence(cell.reason) for cell in surface.cells if cell.reason is not None}
    assert "cifs moved nothing, for a client at least, in 3 blocks" in reasons


def test_the_more_cells_are_empty_the_worse() -> None:
    ratios = [compare_run(empty_cells(tuple(range(1, n + 1)))).pairs[0].primary.ratio for n in range(7)]
    assert ratios == sorted(ratios, reverse=True)
    assert math.log(ratios[0]) == pytest.approx(0.0, abs=0.02) and ratios[-1] < ratios[0]


@pytest.mark.parametrize("blocks", [6, 8])
@pytest.mark.parametrize("share", [0.02, 0.1, 0.4])
def test_equal_contenders_that_fail_equally_often_are_rarely_called_different(blocks: int, share: float) -> None:
    """The decision alone, without the gate that withholds a lead with failed trials: at most 5 % and its own error."""
    from bakeoff.compare.cube.forfeits import bounded
    from bakeoff.stats import decide, equivalence_p, ratio_by_signs, ratio_from_logs, trapezoid_weights

    random = np.random.default_rng(5)
    runs, load_steps = 1500, (1, 4, 8)
    wrong = 0
    for _ in range(runs):
        logs = random.normal(0.0, 0.02, (2, len(load_steps), blocks))
        lost = random.random((2, len(load_steps), blocks)) < share
        pair = bounded(np.where(lost[0], np.nan, logs[0]), np.where(lost[1], np.nan, logs[1]), (lost[0], lost[1]))
        per_block = trapezoid_weights(load_steps) @ np.where(pair.ties, 0.0, pair.logs)
        any_lost = bool(lost.any())
        ratio = ratio_by_signs(per_block) if any_lost else ratio_from_logs(per_block)
        p = equivalence_p(ratio.log_mean, ratio.log_sd, blocks, 0.0)
        wrong += decide(ratio, 0.0, ratio.p_t, p).outcome in ("higher", "lower")
    assert wrong / runs <= 0.05 + 3.0 * math.sqrt(0.05 * 0.95 / runs)


def idle_in(name: str, operations: int, elapsed_s: float = 1.0, waited: float = 0.0) -> RunRecord:
    """`name` is twice as fast, and gives the third of four clients nothing in one cell of block 2, in which that
    client's thread waited for a share of the time.
    """

    def idle(contender: str, block: int, cell: dict[str, Any]) -> None:
        here = (contender, block, cell["test"], cell["record_bytes"]) == (name, 2, "random read", 4096)
        moved = [1 << 20, 1 << 20, 0 if here else 1 << 20, 1 << 20]
        cell.update(
            operations=operations, per_client=[[n, n / 1024] for n in moved], elapsed_s=elapsed_s, slowest_kib_s=0.0,
            fastest_kib_s=1024.0, first_done_s=elapsed_s / 2, last_done_s=elapsed_s,
            waited_shares=[0.1, 0.9, waited if here else 0.0, 0.0],
        )  # fmt: skip

    return blocks_run(lambda *_: 2.0, change=idle)


def test_a_client_that_is_idle_in_a_cell_is_starved_and_loses_the_cell() -> None:
    record = idle_in("cifs", 4000)
    found = compare_run(record)
    (lost,) = found.forfeited
    assert (lost.contender, lost.block, lost.cell) == ("cifs", 2, "random read, 4 KiB")
    assert sentence(lost.reason) == "client 2 of 4 got (next to) nothing"
    end = found.pairs[0].primary
    assert end.forfeited["cifs"] == 1 and end.verdict.winner is None, "it is ahead, and starves clients"
    assert any(gate.name == "starved clients" for gate in end.gates)
    said = "cifs gave clients (next to) nothing in 1 cell: random read, 4 KiB, block 2: client 2 of 4."
    assert [warning.text for warning in warnings_of(found) if warning.first].count(said) == 1
    assert "client 2 of 4 got (next to) nothing" in shown(record, width=300)
    whole = compare_run(idle_in("nobody", 4000)).pairs[0].primary
    assert whole.verdict.winner == "cifs" and end.ratio < whole.ratio


def test_a_client_whose_thread_did_not_run_is_the_generators_fault_and_no_loss() -> None:
    record = idle_in("cifs", 4000, waited=0.98)
    found = compare_run(record)
    end = found.pairs[0].primary
    assert not found.forfeited and end.verdict.winner == "cifs" and not any(end.forfeited.values())
    assert not any(gate.name == "starved clients" for gate in end.gates)
    said = (
        "The load generator did not run for some clients in 1 cell: random read, 4 KiB, cifs, block 2: client 2 of 4 "
        "for 98 % of its time."
    )
    assert [warning.text for warning in warnings_of(found)].count(said) == 1
    assert "got (next to) nothing" not in shown(record, width=300)
    # The cell has no figure in that block, and is compared in the others.
    assert found.cells is not None
    cells = found.cells.pairs[0].cells
    assert [each.blocks for each in cells if (each.test, each.record_kib) == ("random read", 4.0)] == [
        len({trial.block for trial in record.trials}) - 1
    ]


def test_a_client_whose_thread_waited_for_less_than_half_of_a_cell_is_starved() -> None:
    assert compare_run(idle_in("cifs", 4000, waited=0.5)).forfeited


@pytest.mark.parametrize(("operations", "elapsed_s"), [(39, 1.0), (4000, 0.01)])
def test_few_transfers_and_short_cells_accuse_nobody(operations: int, elapsed_s: float) -> None:
    found = compare_run(idle_in("cifs", operations, elapsed_s))
    assert not found.forfeited and found.pairs[0].primary.verdict.winner == "cifs"


def test_the_slower_one_that_starves_a_client_of_a_cell_only_loses_more() -> None:
    end = compare_run(idle_in("nfs", 4000)).pairs[0].primary
    assert end.verdict.winner == "cifs" and end.forfeited["nfs"] == 1


def test_the_page_has_the_clients_of_cells() -> None:
    record = idle_in("cifs", 4000)
    record = replace(
        record, load_steps=(Clients(4),), trials=tuple(replace(t, load_step=Clients(4)) for t in record.trials)
    )
    report = compose(record, compare_run(record))
    fairness = next(section for section in report.sections if section.id == "fairness")
    table = fairness.blocks[-1]
    assert isinstance(table, Table)
    row = next(row for row in table.rows if row[1:3] == ("cifs", "random read"))
    assert row[4:6] == ("1", "1")
