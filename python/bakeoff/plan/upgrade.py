"""Plans of older run files in today's form: nothing that they say is lost."""

from typing import Any

from bakeoff.kinds import plan_part
from bakeoff.plan.until import CLEAR


def upgraded(stored: dict[str, Any]) -> dict[str, Any]:
    """A stored plan in the form of this version. One that is none stays as it is, to be refused by its fields.

    Format 1 had the folder of a corpus beside the settings and what a class of requests may say with every class.
    Early ones of format 2 said `until_clear`.
    """
    if "until_clear" in stored:
        stored = {key: value for key, value in stored.items() if key != "until_clear"} | {
            "until": CLEAR if stored["until_clear"] is True else None
        }
    if stored.get("format") != 1 or not isinstance(stored.get("settings"), dict):
        return stored
    kind = plan_part(str(stored.get("kind")))
    plan = {key: value for key, value in stored.items() if key not in ("corpus", "corpus_suite")}
    if "corpus" in kind.settings.model_fields:
        plan["settings"] = {**stored["settings"], "corpus": stored.get("corpus")}
    if isinstance(classes := stored.get("classes"), list):
        known = kind.suite_class.model_fields
        plan["classes"] = [{k: v for k, v in c.items() if k in known} if isinstance(c, dict) else c for c in classes]
    return {**plan, "format": 2}
