"""The rules of the layers: who may know whom."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from bakeoff.kinds import KINDS

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python/bakeoff"

# Modules of the store that know no file.
MEASURED = ("__init__", "records/__init__", "records/figure", "records/trial_parts")


def modules_of(package: str) -> list[str]:
    """Its modules, as paths below it without their ending."""
    return [str(path.relative_to(PACKAGE / package).with_suffix("")) for path in (PACKAGE / package).rglob("*.py")]


# What a package must not import, by prefix of the module's name.
FORBIDDEN = {
    "stats": ["bakeoff."],
    "compare": ["bakeoff.run", "bakeoff.agents", "bakeoff.report", "bakeoff.cli"],
    "report": ["bakeoff.run", "bakeoff.agents", "bakeoff.cli"],
    "store": ["bakeoff.run", "bakeoff.report", "bakeoff.compare", "bakeoff.cli"],
    "plan": [
        "bakeoff.run",
        "bakeoff.store.sqlite.read",
        "bakeoff.store.sqlite.write",
        "bakeoff.store.sqlite.schema",
        "bakeoff.report",
        "bakeoff.compare",
        "bakeoff.cli",
        "bakeoff.agents",
    ],
    # An agent hands out a kind's check, whose contract it may name.
    "agents": [
        # What is measured is the same in its result and in its record.
        *(f"bakeoff.store.{name.replace('/', '.')}" for name in modules_of("store") if name not in MEASURED),
        "bakeoff.report",
        "bakeoff.compare",
        "bakeoff.cli",
        *(f"bakeoff.run.{name.replace('/', '.')}" for name in modules_of("run") if name not in ("__init__", "kind")),
    ],
    "load/capacity": [f"bakeoff.{layer}" for layer in ("plan", "run", "agents", "report", "compare", "cli")]
    + ["bakeoff.store.sqlite.read", "bakeoff.store.sqlite.write", "bakeoff.store.sqlite.schema"],
    "agents/cluster": [f"bakeoff.{layer}" for layer in ("plan", "run", "store", "report", "compare", "cli", "kinds")],
    "telemetry": [
        f"bakeoff.{layer}" for layer in ("plan", "run", "agents", "store", "report", "compare", "cli", "kinds")
    ],
    "audit": [f"bakeoff.{layer}" for layer in ("run", "agents", "report", "cli", "kinds", "stats")],
    "disclosure/paper": [f"bakeoff.{layer}" for layer in ("run", "agents", "store", "report", "compare", "cli")],
    "disclosure/collect": [
        f"bakeoff.{layer}" for layer in ("run", "agents", "store", "report", "compare", "cli", "kinds")
    ],
    "testdata/corpus": ["bakeoff.run", "bakeoff.store", "bakeoff.report", "bakeoff.compare", "bakeoff.cli"],
}
STATS_MAY = {"numpy", "scipy", "ruptures"}

CRATES = {
    "engine": set(),
    "app-protocol": set(),
    "workloads": {"bakeoff-engine", "bakeoff-app-protocol"},
    "platform": {"bakeoff-engine"},
    "httperf": {"bakeoff-engine", "bakeoff-platform", "bakeoff-workloads"},
    "targets": {"bakeoff-app-protocol"},
    "bridge": {"bakeoff-engine", "bakeoff-httperf", "bakeoff-platform", "bakeoff-workloads", "bakeoff-targets"},
}


def imports_of(path: Path) -> set[str]:
    """Absolute names of everything a module imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize("package", sorted(FORBIDDEN))
def test_packages_import_only_what_they_may(package: str) -> None:
    modules = list((PACKAGE / package).rglob("*.py"))
    assert modules
    for module in modules:
        for name in imports_of(module):
            allowed = name.startswith((f"bakeoff.{package.replace('/', '.')}", "bakeoff.core.thresholds"))
            bad = [prefix for prefix in FORBIDDEN[package] if name.startswith(prefix) and not allowed]
            assert not bad, f"{module.relative_to(ROOT)} imports {name}"


# Parts of other layers that a kind's part of a layer may use.
PARTS_MAY = {
    "plan": set(),
    "run": {"plan"},
    "compare": {"plan"},
    "words": {"plan", "compare"},
    "report": {"plan", "compare", "words"},
}


@pytest.mark.parametrize("layer", sorted(PARTS_MAY))
def test_parts_of_kinds_import_what_their_layer_may(layer: str) -> None:
    others = set(PARTS_MAY) - {layer} - PARTS_MAY[layer]
    kinds = PACKAGE / "kinds"
    for module in (*kinds.glob(f"*/{layer}.py"), *kinds.glob(f"*/{layer}/**/*.py")):
        for name in imports_of(module):
            allowed = name.startswith(NARRATE) and layer == "words"
            prefixes = FORBIDDEN.get(layer, ["bakeoff.report", "bakeoff.cli"])
            bad = [prefix for prefix in prefixes if name.startswith(prefix) and not allowed]
            parts = name.split(".")
            foreign = parts[:2] == ["bakeoff", "kinds"] and len(parts) > 3 and parts[3] in others
            assert not bad and not foreign, f"{module.relative_to(ROOT)} imports {name}"


def test_statistics_know_numpy_and_scipy_only() -> None:
    for module in (PACKAGE / "stats").rglob("*.py"):
        for name in imports_of(module):
            top = name.split(".")[0]
            assert top in STATS_MAY | {"bakeoff"} | set(sys.stdlib_module_names), f"{module.name} imports {name}"


@pytest.mark.parametrize("crate", sorted(CRATES))
def test_crates_depend_only_downwards(crate: str) -> None:
    manifest = tomllib.loads((ROOT / "crates" / crate / "Cargo.toml").read_text())
    own = {name for name in manifest["dependencies"] if name.startswith("bakeoff-")}
    assert own <= CRATES[crate]
    assert ("pyo3" in manifest["dependencies"]) == (crate == "bridge")


def test_only_platform_and_targets_name_sockets_and_clocks() -> None:
    pattern = re.compile(r"\bstd::(net|fs|os::fd|time::(Instant|SystemTime))\b")
    for crate in ("engine", "app-protocol", "workloads", "httperf", "bridge"):
        for source in (ROOT / "crates" / crate / "src").rglob("*.rs"):
            assert not pattern.search(source.read_text()), source.relative_to(ROOT)


def test_no_file_names_a_registry() -> None:
    hosts = re.compile(r"(pypi|crates|npmjs|debian)\.(org|io|com)")
    names = ["requirements.lock", "pyproject.toml", "Cargo.toml", "Makefile", "scripts/install-packages.sh"]
    for name in names:
        assert not hosts.search((ROOT / name).read_text()), name


# Who may divide or multiply by a million or a thousand million: what there is no time.
NO_TIMES = {
    "agents/cluster/begin.py": "bits a second of a link",
    "audit/checks/laws.py": "bytes a second",
    "cli/measure/plan.py": "bytes a second of a link",
    "compare/cube/cell_form.py": "bytes a second",
    "compare/metrics/metrics.py": "bytes a second",
    "core/system/links.py": "bits a second of a link",
    "disclosure/collect/machine.py": "kHz of a processor",
    "formats/exporters/iometer_csv.py": "bytes a second",
    "kinds/app/report/bottleneck.py": "bytes a second",
    "kinds/file_blocks/plan.py": "bytes of a region",
    "kinds/file_mix/plan.py": "bytes of files",
    "kinds/file_mix/report.py": "bytes and bits a second",
    "kinds/files/run.py": "bytes of a disk",
    "load/capacity/mlr.py": "a share, as a whole number",
    "report/narrate/audit/laws.py": "bytes a second",
    "report/paper/testbed.py": "bits a second of a link",
    "report/sections/cells/cell_levels.py": "operations a second",
    "report/sections/load/soak.py": "bytes of memory",
    "report/sections/setup/method.py": "bytes of memory",
    "report/sections/setup/resources.py": "bytes a second",
    "run/checks/preflight.py": "bytes of a disk",
    "testdata/corpus/write.py": "bytes of a disk",
}
MILLIONS = {1e6, 1e9, 1e-6, 1e-9}
POWERS = {"10**6", "10**9", "1000**2", "1000**3"}


def scales(path: Path) -> bool:
    """Whether a module divides or multiplies by a million or a thousand million, also by a constant of its own."""
    tree = ast.parse(path.read_text())
    named = {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign)
        for pair in pairs_of(node)
        if isinstance(target := pair[0], ast.Name) and is_millions(pair[1])
    }
    return any(
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Mult | ast.Div | ast.FloorDiv)
        and any(is_millions(one) or (isinstance(one, ast.Name) and one.id in named) for one in (node.left, node.right))
        for node in ast.walk(tree)
    )


def pairs_of(node: ast.Assign) -> list[tuple[ast.expr, ast.expr]]:
    """What an assignment names, and with what value."""
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def is_millions(node: ast.expr) -> bool:
    """Also as a power of ten."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return [ast.unparse(node.left), ast.unparse(node.right)] in (
            ["10", "6"],
            ["10", "9"],
            ["1000", "2"],
            ["1000", "3"],
        )
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and node.value in MILLIONS


def test_times_change_their_unit_in_one_module() -> None:
    found = {str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py") if scales(path)}
    assert found == {"core/times.py", *NO_TIMES}, "bakeoff.core.times converts times"


def test_nobody_reads_a_setting_of_a_run_by_its_key() -> None:
    """`run.planned` has it as an attribute; `run.plan` is the stored form, for texts and hashes."""
    for module in PACKAGE.rglob("*.py"):
        found = re.search(r"\b(run|whole|record|pilot)\.plan(\.get\(|\[)", module.read_text())
        assert not found, f"{module.relative_to(ROOT)} has {found.group()}"


GENERAL = (
    "plan",
    "run",
    "agents",
    "cli",
    "compare",
    "report",
    "store",
    "formats/exporters/__init__.py",
    "formats/exporters/base.py",
)
# Verbs about one kind are called for it: they are its command line.
VERBS_OF_A_KIND = re.compile(r"cli/\w+/(users|demo|corpus|iozone|httperf|serve\w*)(\.py|/)")


def test_general_layers_name_no_kind() -> None:
    """Nor do they dig in what a kind tells of its trials: its model does."""
    names = "|".join(KINDS)
    dug = r"\.workload(\[|\.get\(| or \{\}\)(\[|\.get))"
    named = re.compile(rf"""["']({names})["']|bakeoff\.kinds\.(?!spec\b)\w|{dug}""")
    modules = [
        path for place in GENERAL for path in ([PACKAGE / place] if "." in place else (PACKAGE / place).rglob("*.py"))
    ]
    assert len(modules) > 50
    for module in modules:
        if VERBS_OF_A_KIND.search(str(module)):
            continue
        text = module.read_text()
        if module == PACKAGE / "cli/verbs.py":  # a verb may be called like the kind whose command line it is
            text = re.sub(r'^        "[a-z-]+": ', "", text, flags=re.MULTILINE)
        found = named.search(text)
        assert not found, f"{module.relative_to(ROOT)} names {found.group()}"


def loaded_by(script: str, *prefixes: str) -> list[str]:
    """The modules with these names that are loaded after `script`."""
    code = f"{script}\nimport sys; print(*(name for name in sys.modules if name.startswith({prefixes!r})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_reports_on_any_kind_load_nothing_that_runs_trials() -> None:
    script = (
        "import bakeoff.report.compose, bakeoff.compare, bakeoff.store.sqlite.read\n"
        "from bakeoff.kinds import KINDS\n"
        "from bakeoff.compare.kind import compare_part\n"
        "from bakeoff.report.kind import report_part\n"
        "from bakeoff.store.records.figures import figures_of\n"
        "for name in (*KINDS, 'unheard-of'):\n"
        "    compare_part(name), report_part(name), figures_of(name)"
    )
    assert not loaded_by(script, "bakeoff.run", "bakeoff.agents", "bakeoff._engine")
    assert loaded_by(script, "bakeoff.report.compose")


def test_reading_a_run_loads_no_statistics() -> None:
    assert not loaded_by("import bakeoff.store.sqlite.read", "numpy", "scipy")


def test_runs_and_comparisons_load_no_distributions_searches_or_drawings() -> None:
    """They would be most of what such a start takes."""
    script = "import bakeoff.compare, bakeoff.run.driver, bakeoff.cli.measure.result"
    assert not loaded_by(
        script, "scipy.stats", "scipy.optimize", "MLRsearch", "altair", "vl_convert", "typst", "polars"
    )


# The library that reaches other machines is an optional extra: only what is loaded for `--cluster` may import it.
RAY = re.compile(r"agents/ray\w*(\.py|/)")


def test_only_the_agent_on_another_machine_imports_ray() -> None:
    for module in PACKAGE.rglob("*.py"):
        named = {name.split(".")[0] for name in imports_of(module)}
        assert "ray" not in named or RAY.search(str(module)), f"{module.relative_to(ROOT)} imports ray"


def test_ray_is_an_extra_of_its_own() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = {"": project["dependencies"], **project["optional-dependencies"]}
    assert [name for name, needed in extras.items() if any(line.startswith("ray") for line in needed)] == ["cluster"]


NARRATE = "bakeoff.report.narrate"
WORD = re.compile(r"[A-Za-z][a-z'’]+")


def silent_modules() -> list[Path]:
    """The modules that find what a report says, and leave the words to `report/narrate/`."""
    kinds = PACKAGE / "kinds"
    return [
        *(PACKAGE / "compare").rglob("*.py"),
        # But the one that finds claims in texts of others, which knows their words.
        *(path for path in (PACKAGE / "audit").rglob("*.py") if path.parts[-2:] != ("claims", "text.py")),
        *kinds.glob("*/compare.py"),
        *kinds.glob("*/compare/**/*.py"),
    ]


# What these hold are names of figures, as they stand on an axis: nouns, however long, that tell figures apart and
# state nothing of a value, as the name of a contender does.
NAMES = {"title", "name", "short", "responds", "waits_for"}


def is_name(node: ast.AST) -> bool:
    """Whether a node gives a figure its name."""
    if isinstance(node, ast.keyword):
        return node.arg in NAMES
    targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets if isinstance(node, ast.Assign) else []
    return any(isinstance(target, ast.Name) and target.id in NAMES for target in targets)


def sentences_in(path: Path) -> list[str]:
    """Literals of three and more words, but for names of figures, docstrings and those of `raise` and `assert`."""
    found: list[str] = []

    def look(node: ast.AST) -> None:
        if isinstance(node, ast.Raise | ast.Assert) or is_name(node):
            return
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return
        if isinstance(node, ast.Constant | ast.JoinedStr):
            parts = node.values if isinstance(node, ast.JoinedStr) else [node]
            text = " ".join(str(part.value) for part in parts if isinstance(part, ast.Constant) and part.value)
            is_sentence = isinstance(text, str) and " " in text.strip() and len(WORD.findall(text)) >= 3
            found.extend([text] if is_sentence else [])
        for child in ast.iter_child_nodes(node):
            look(child)

    look(ast.parse(path.read_text()))
    return found


# Methods of a text by which one decides something.
READ = re.compile(
    r"\.(text|reason|words)\.(startswith|endswith|partition|split|removeprefix|removesuffix|find|replace)\("
)


def test_comparisons_make_no_sentence_and_read_none() -> None:
    speaking = {
        str(path.relative_to(PACKAGE))
        for path in silent_modules()
        if sentences_in(path) or READ.search(path.read_text()) or any(n.startswith(NARRATE) for n in imports_of(path))
    }
    assert speaking == set()


def test_who_tells_knows_comparisons_and_nothing_of_reports() -> None:
    allowed = ("compare", "audit", "store", "plan", "load", "kinds", "core")
    for module in (PACKAGE / "report/narrate").rglob("*.py"):
        for name in imports_of(module):
            fits = name.startswith((NARRATE, *(f"bakeoff.{each}" for each in allowed)))
            assert fits or not name.startswith("bakeoff."), f"{module.relative_to(ROOT)} imports {name}"
