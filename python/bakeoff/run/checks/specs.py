"""From a plan to what the engine is told: the trial specification of one contender."""

from collections.abc import Sequence

from bakeoff.agents.base import Facts
from bakeoff.agents.spec import TrialSpec
from bakeoff.plan.model import Contender
from bakeoff.run.checks.polling import polls
from bakeoff.run.kind import Check


def trial_spec(check: Check, contender: Contender, addresses: Sequence[str], facts: Facts) -> TrialSpec:
    """The specification of a trial at the first load step, for an agent with these facts; trials put in theirs and a
    seed.

    Raises PlanError for settings that do not fit this machine or the contender.
    """
    s = check.plan.settings_of(contender.name)
    return TrialSpec(
        workload=check.checked_workload(contender, addresses),
        load=s.load_steps[0].load,
        virtual_users=s.virtual_users,
        streams=s.sessions_per_client // s.virtual_users,
        ramp_up_s=s.clock.ramp_up_s,
        ramp_down_s=s.clock.ramp_down_s,
        length_s=s.length_s,
        delay_s=s.clock.delay_s,
        think_s=s.think_s,
        think_distribution=s.think_distribution,
        max_operations=s.clock.operations,
        interval_s=s.clock.interval_s,
        connect_timeout_s=s.clock.connect_timeout_s,
        reply_timeout_s=s.reply_timeout_s,
        load_threads=s.clock.load_threads,
        pin=s.pin,
        poll=polls(s, addresses, facts),
    )
