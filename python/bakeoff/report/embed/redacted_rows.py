"""Runs without what looks like a secret: rows for what a report holds, records for what is printed and exported."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from bakeoff.core.redact import CONTENT, Apart, hidden, without_secrets
from bakeoff.store.records.run_records import RunRecord, TrialRecord
from bakeoff.store.sqlite.canonical import to_json
from bakeoff.store.sqlite.rows import RUN, TRIALS, Tables

# What trials tell of themselves in words of others.
TRIAL_COLUMNS = ("workload", "disturbances", "machines", "others", "soak")
IN_FIGURES = "what the trials tell of themselves has what looks like a password"


class HiddenRows:
    """Hides secrets of several runs and plans so that it can be seen which of them differ. `why_not` says what it could
    not hide without changing figures; it is empty when there is none.
    """

    def __init__(self) -> None:
        self._apart = Apart()
        self._texts: dict[str, str] = {}
        self.why_not = ""

    def tables(self, tables: Tables) -> Tables:
        """The rows of a run."""
        done = {table: dict(columns) for table, columns in tables.items()}
        rules: tuple[tuple[str, str, Callable[[str], str]], ...] = (
            (RUN, "plan", self._json),
            (RUN, "environment", self._environment),
            ("agents", "facts", self._json),
            ("contenders", "reset", self.text),
            ("contenders", "address", self.text),
            ("searches", "reason", self.text),
            ("amendments", "text", self.text),
            (TRIALS, "reason", self.text),
            (TRIALS, "found", self._json),
            ("agent_results", "lost", self.text),
            ("telemetry", "source", self.text),
            ("telemetry", "facts", self._json),
            ("telemetry", "gaps", self._json_texts),
            ("events", "text", self.text),
            ("events", "reason", self.text),
        )
        for table, column, rule in rules:
            done[table][column] = [value and rule(value) for value in done[table][column]]
        for table in ("operations", "steps"):
            names = self.names(done[table]["name"])
            done[table]["name"] = [names[name] for name in done[table]["name"]]
        if any(text and self._is_changed(text) for column in TRIAL_COLUMNS for text in done[TRIALS][column]):
            self.why_not = IN_FIGURES
        return done

    def run(self, run: RunRecord) -> RunRecord:
        """A run with all its figures, as it may be shown and passed on."""
        all_trials = (*run.trials, *run.earlier)
        names = self.names(
            [one.name for trial in all_trials for one in trial.per_operation]
            + [one.name for trial in all_trials for one in trial.steps]
        )

        def shown(trial: TrialRecord) -> TrialRecord:
            return replace(
                trial,
                reason=self.text(trial.reason),
                found=trial.found and hidden(trial.found, self._apart),
                per_operation=tuple(replace(one, name=names[one.name]) for one in trial.per_operation),
                steps=tuple(replace(one, name=names[one.name]) for one in trial.steps),
                per_agent=tuple(replace(one, lost=self.text(one.lost)) for one in trial.per_agent),
                **{name: self._of_texts(getattr(trial, name)) for name in TRIAL_COLUMNS},
            )

        return replace(
            run,
            plan=self.plan(run.plan),
            environment=json.loads(self._environment(json.dumps(run.environment))),
            contenders=tuple(
                replace(one, address=self.text(one.address), reset=one.reset and self.text(one.reset))
                for one in run.contenders
            ),
            agents=tuple(replace(one, facts=hidden(one.facts, self._apart)) for one in run.agents),
            searches=tuple(replace(one, reason=self.text(one.reason)) for one in run.searches),
            amendments=tuple(replace(one, text=self.text(one.text)) for one in run.amendments),
            events=tuple(replace(one, text=self.text(one.text), reason=self.text(one.reason)) for one in run.events),
            trials=tuple(map(shown, run.trials)),
            earlier=tuple(map(shown, run.earlier)),
        )

    def names(self, names: Iterable[str]) -> dict[str, str]:
        """By name what it is shown as: two of them never become one."""
        found = dict[str, str]()
        for name in dict.fromkeys(names):
            text = shown = self.text(name)
            number = 1
            while shown in found.values():
                number += 1
                shown = f"{text} ({number})"
            found[name] = shown
        return found

    def plan(self, plan: dict[str, Any]) -> dict[str, Any]:
        """A plan as it is in a report."""
        found: dict[str, Any] = hidden(plan, self._apart)
        return found

    def text(self, text: str) -> str:
        """A text without what looks like a secret in it."""
        if text not in self._texts:
            self._texts[text] = without_secrets(text)
        return self._texts[text]

    def _json(self, text: str) -> str:
        value = json.loads(text)
        found = hidden(value, self._apart)
        return text if found == value else to_json(found)

    def _environment(self, text: str) -> str:
        """Its members are hidden one by one: what was found of contenders stands under `content`, which elsewhere is
        what requests carry.
        """
        value = json.loads(text)
        found = {
            name: hidden(one, self._apart) if name == CONTENT else hidden({name: one}, self._apart)[name]
            for name, one in value.items()
        }
        return text if found == value else to_json(found)

    def _json_texts(self, text: str) -> str:
        """JSON whose texts are held against the rules, whatever their names are."""
        value = json.loads(text)
        found = self._of_texts(value)
        return text if found == value else to_json(found)

    def _is_changed(self, text: str) -> bool:
        value = json.loads(text)
        return bool(self._of_texts(value) != value)

    def _of_texts(self, value: Any) -> Any:
        match value:
            case str():
                return self.text(value)
            case dict():
                return {name: self._of_texts(one) for name, one in value.items()}
            case list():
                return [self._of_texts(one) for one in value]
        return value
