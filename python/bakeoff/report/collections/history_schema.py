"""The JSON Schema of a history, as `history_document.document` writes it."""

from __future__ import annotations

from bakeoff.compare.collections.history_model import RunOfPlan, Series
from bakeoff.compare.collections.joined_model import FileDifference
from bakeoff.report.collections.history_document import SCHEMA
from bakeoff.report.narrate.json_schema import FACT, Schema, exactly, list_of, object_of, whole

TEXT = Schema(type="string")


def json_schema() -> Schema:
    """The whole schema, draft 2020-12. A figure that is not available is null."""
    parts: dict[str, Schema] = {}
    run, series, difference = (object_of(made, parts) for made in (RunOfPlan, Series, FileDifference))
    change, levels = parts["LevelChange"], parts["Series"]
    parts["LevelChange"] = change | exactly({**change["properties"], "differences": list_of(difference), "text": TEXT})
    levels["properties"]["baseline"] = {"type": ["string", "null"]}
    words = dict.fromkeys(("suite", "name", "loads", "metric", "title", "unit"), TEXT)
    lists = {"runs": list_of(run), "levels": list_of(series), "ratios": list_of(series)}
    parts["Plan"] = exactly({**words, "higher_is_better": {"type": "boolean"}, **lists})
    left_out = {"type": "object", "properties": {"path": TEXT, **FACT["properties"]}, "required": ["path", "kind"]}
    return whole(SCHEMA, {"plans": list_of({"$ref": "#/$defs/Plan"}), "left_out": list_of(left_out)}, parts)
