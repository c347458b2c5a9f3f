"""The table in README: what each size of each suite costs."""

from bakeoff.plan.design.size_costs import cost
from bakeoff.plan.suites import BLOCKS, EVERYWHERE, load_suite, suite_names


def text() -> str:
    """Suite × size; sizes that few suites have are not among them."""
    lines = ["| suite | " + " | ".join(EVERYWHERE) + " |", "|---|" + "---:|" * len(EVERYWHERE)]
    for name in suite_names():
        suite = load_suite(name)
        lines.append(f"| `{name}` | " + " | ".join(cost(suite, size) for size in EVERYWHERE) + " |")
    lines.append("| blocks | " + " | ".join(str(BLOCKS[size]) for size in EVERYWHERE) + " |")
    return "\n".join(lines) + "\n"
