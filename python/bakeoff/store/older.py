"""The tables of run files of earlier versions, as they were made: what a file of such a version must hold exactly.

Version 7 knew no telemetry. Version 6 knew no plan that changed while it ran. Version 5 kept of an agent's share of a
trial neither its start, its links nor its planned starts. Version 4 knew no searches for a capacity and no soaks.
Version 3 is sealed as this version is, and knew neither agents nor rates. Version 2 had no seals. Version 1 had no
waits for a processor, and grew twice without another number. A run that went on under version 2 in a file of version 1
left that file's tables, with a column added at the end.
"""

_SUMMARY = (
    "count INTEGER NOT NULL, mean_ns REAL, p50_ns INTEGER, p95_ns INTEGER, p99_ns INTEGER, p999_ns INTEGER, "
    "max_ns INTEGER, min_ns INTEGER"
)

_VERSION_7 = f"""
CREATE TABLE run (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  name TEXT NOT NULL, suite TEXT NOT NULL, kind TEXT NOT NULL,
  plan TEXT NOT NULL, plan_hash TEXT NOT NULL,
  created_at TEXT NOT NULL, finished_at TEXT,
  tool TEXT NOT NULL, environment TEXT NOT NULL,
  mixes TEXT NOT NULL, blocks_planned INTEGER NOT NULL, delta REAL NOT NULL,
  null_operations_per_s REAL,
  writer TEXT, started_here TEXT, upgraded_from INTEGER,
  agents_sha256 TEXT NOT NULL, contenders_sha256 TEXT NOT NULL, planned_sha256 TEXT NOT NULL,
  searches_sha256 TEXT NOT NULL, amendments_sha256 TEXT NOT NULL,
  trials INTEGER NOT NULL, trials_sha256 TEXT NOT NULL,
  events INTEGER NOT NULL, events_sha256 TEXT NOT NULL,
  soak_rows INTEGER NOT NULL, soak_rows_sha256 TEXT NOT NULL,
  sha256 TEXT NOT NULL
);
CREATE TABLE agents (
  position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, facts TEXT NOT NULL, null_operations_per_s REAL
);
CREATE TABLE contenders (
  position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, address TEXT NOT NULL, reset TEXT
);
CREATE TABLE planned (
  position INTEGER PRIMARY KEY, contender TEXT NOT NULL REFERENCES contenders(name),
  mix TEXT NOT NULL, block INTEGER NOT NULL, seed INTEGER NOT NULL, purpose TEXT NOT NULL, share REAL
);
CREATE TABLE searches (
  position INTEGER PRIMARY KEY, contender TEXT NOT NULL REFERENCES contenders(name), block INTEGER NOT NULL,
  outcome TEXT NOT NULL, reason TEXT NOT NULL,
  met INTEGER REFERENCES planned(position), missed INTEGER REFERENCES planned(position)
);
CREATE TABLE amendments (
  position INTEGER PRIMARY KEY, at TEXT NOT NULL,
  sort TEXT NOT NULL CHECK (sort IN ('blocks', 'retry', 'clear', 'left_out')), text TEXT NOT NULL,
  blocks_seen INTEGER NOT NULL, blocks_before INTEGER NOT NULL, blocks INTEGER NOT NULL,
  contender TEXT REFERENCES contenders(name), plan_hash TEXT NOT NULL
);
CREATE TABLE trials (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  position INTEGER NOT NULL REFERENCES planned(position),
  state TEXT NOT NULL CHECK (state IN ('ok', 'failed', 'voided', 'interrupted')),
  reason TEXT NOT NULL, marks TEXT NOT NULL, started_at TEXT NOT NULL, window_s REAL NOT NULL,
  operations INTEGER NOT NULL, bytes_in INTEGER NOT NULL, bytes_out INTEGER NOT NULL,
  operations_per_s REAL NOT NULL, bytes_per_s REAL NOT NULL,
  errors TEXT NOT NULL, statuses TEXT NOT NULL, connections TEXT NOT NULL,
  generator_cpu_share REAL NOT NULL, generator_cpu_us_per_operation REAL NOT NULL,
  generator_rss_bytes INTEGER NOT NULL, fairness_jain REAL NOT NULL, workload TEXT NOT NULL,
  generator_run_delay_share REAL NOT NULL, starts TEXT, judged TEXT,
  sha256 TEXT NOT NULL
);
CREATE TABLE summaries (
  trial_id INTEGER NOT NULL REFERENCES trials(id), series TEXT NOT NULL, {_SUMMARY},
  PRIMARY KEY (trial_id, series)
) WITHOUT ROWID;
CREATE TABLE operations (
  trial_id INTEGER NOT NULL REFERENCES trials(id), position INTEGER NOT NULL, name TEXT NOT NULL,
  operations INTEGER NOT NULL, errors TEXT NOT NULL, bytes_in INTEGER NOT NULL, bytes_out INTEGER NOT NULL,
  {_SUMMARY},
  PRIMARY KEY (trial_id, position)
) WITHOUT ROWID;
CREATE TABLE steps (
  trial_id INTEGER NOT NULL REFERENCES trials(id), position INTEGER NOT NULL, name TEXT NOT NULL, {_SUMMARY},
  PRIMARY KEY (trial_id, position)
) WITHOUT ROWID;
CREATE TABLE seconds (
  trial_id INTEGER NOT NULL REFERENCES trials(id), second INTEGER NOT NULL, phase TEXT NOT NULL,
  operations INTEGER NOT NULL, errors INTEGER NOT NULL, bytes_in INTEGER NOT NULL, {_SUMMARY},
  width_s REAL NOT NULL,
  PRIMARY KEY (trial_id, second)
) WITHOUT ROWID;
CREATE TABLE clients (
  trial_id INTEGER NOT NULL REFERENCES trials(id), client INTEGER NOT NULL,
  operations INTEGER NOT NULL, errors INTEGER NOT NULL, bytes_in INTEGER NOT NULL, busy_s REAL NOT NULL,
  PRIMARY KEY (trial_id, client)
) WITHOUT ROWID;
CREATE TABLE shares (
  trial_id INTEGER NOT NULL REFERENCES trials(id), agent INTEGER NOT NULL REFERENCES agents(position),
  clients INTEGER NOT NULL, lost TEXT NOT NULL, window_s REAL NOT NULL,
  operations INTEGER NOT NULL, errors TEXT NOT NULL, bytes_in INTEGER NOT NULL, bytes_out INTEGER NOT NULL,
  cpu_share REAL NOT NULL, cpu_us_per_operation REAL NOT NULL, run_delay_share REAL NOT NULL,
  rss_bytes INTEGER NOT NULL, late_start_p99_ns INTEGER, lag_p99_ns INTEGER, disturbances TEXT NOT NULL,
  start_offset_ns INTEGER, links TEXT NOT NULL, starts TEXT, response TEXT,
  {_SUMMARY},
  PRIMARY KEY (trial_id, agent)
) WITHOUT ROWID;
CREATE TABLE histograms (
  trial_id INTEGER NOT NULL REFERENCES trials(id), name TEXT NOT NULL, hdr BLOB NOT NULL,
  sha256 TEXT NOT NULL,
  PRIMARY KEY (trial_id, name)
);
CREATE TABLE events (
  id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, level TEXT NOT NULL, text TEXT NOT NULL,
  trial_id INTEGER REFERENCES trials(id)
);
CREATE TABLE soak_rows (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  position INTEGER NOT NULL REFERENCES planned(position),
  stretch INTEGER NOT NULL, number INTEGER NOT NULL,
  started_at TEXT NOT NULL, length_s REAL NOT NULL,
  operations INTEGER NOT NULL, errors TEXT NOT NULL, bytes_in INTEGER NOT NULL, bytes_out INTEGER NOT NULL,
  cpu_share REAL NOT NULL, run_delay_share REAL NOT NULL, stolen_s REAL NOT NULL, rss_bytes INTEGER NOT NULL,
  offered INTEGER, started INTEGER, never_started INTEGER,
  {_SUMMARY}, response TEXT,
  hdr BLOB NOT NULL, hdr_sha256 TEXT NOT NULL, response_hdr BLOB, response_hdr_sha256 TEXT
);
CREATE INDEX trials_by_position ON trials(position, id);
"""


_AMENDMENTS = (
    ("  searches_sha256 TEXT NOT NULL, amendments_sha256 TEXT NOT NULL,\n", "  searches_sha256 TEXT NOT NULL,\n"),
    (
        "CREATE TABLE amendments (\n"
        "  position INTEGER PRIMARY KEY, at TEXT NOT NULL,\n"
        "  sort TEXT NOT NULL CHECK (sort IN ('blocks', 'retry', 'clear', 'left_out')), text TEXT NOT NULL,\n"
        "  blocks_seen INTEGER NOT NULL, blocks_before INTEGER NOT NULL, blocks INTEGER NOT NULL,\n"
        "  contender TEXT REFERENCES contenders(name), plan_hash TEXT NOT NULL\n"
        ");\n",
        "",
    ),
)
_OWN_FIGURES = (
    ("facts TEXT NOT NULL, null_operations_per_s REAL\n", "facts TEXT NOT NULL\n"),
    ("  start_offset_ns INTEGER, links TEXT NOT NULL, starts TEXT, response TEXT,\n", ""),
    ("  offered INTEGER, started INTEGER, never_started INTEGER,\n", ""),
)
_SEARCHES = (
    ("planned_sha256 TEXT NOT NULL,\n  searches_sha256 TEXT NOT NULL,\n", "planned_sha256 TEXT NOT NULL,\n"),
    ("  soak_rows INTEGER NOT NULL, soak_rows_sha256 TEXT NOT NULL,\n", ""),
    ("seed INTEGER NOT NULL, purpose TEXT NOT NULL, share REAL\n", "seed INTEGER NOT NULL\n"),
    ("starts TEXT, judged TEXT,\n", "starts TEXT,\n"),
    (
        "CREATE TABLE searches (\n"
        "  position INTEGER PRIMARY KEY, contender TEXT NOT NULL REFERENCES contenders(name), block INTEGER NOT NULL,\n"
        "  outcome TEXT NOT NULL, reason TEXT NOT NULL,\n"
        "  met INTEGER REFERENCES planned(position), missed INTEGER REFERENCES planned(position)\n"
        ");\n",
        "",
    ),
    (
        "CREATE TABLE soak_rows (\n"
        "  id INTEGER PRIMARY KEY AUTOINCREMENT,\n"
        "  position INTEGER NOT NULL REFERENCES planned(position),\n"
        "  stretch INTEGER NOT NULL, number INTEGER NOT NULL,\n"
        "  started_at TEXT NOT NULL, length_s REAL NOT NULL,\n"
        "  operations INTEGER NOT NULL, errors TEXT NOT NULL, bytes_in INTEGER NOT NULL, bytes_out INTEGER NOT NULL,\n"
        "  cpu_share REAL NOT NULL, run_delay_share REAL NOT NULL, stolen_s REAL NOT NULL, "
        "rss_bytes INTEGER NOT NULL,\n"
        f"  {_SUMMARY}, response TEXT,\n"
        "  hdr BLOB NOT NULL, hdr_sha256 TEXT NOT NULL, response_hdr BLOB, response_hdr_sha256 TEXT\n"
        ");\n",
        "",
    ),
)
_AGENTS = (
    (
        "  writer TEXT, started_here TEXT, upgraded_from INTEGER,\n  agents_sha256 TEXT NOT NULL, contenders_sha256",
        "  writer TEXT, started_here TEXT,\n  contenders_sha256",
    ),
    (
        "CREATE TABLE agents (\n  position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, facts TEXT NOT NULL\n);\n",
        "",
    ),
    (
        "CREATE TABLE shares (\n"
        "  trial_id INTEGER NOT NULL REFERENCES trials(id), agent INTEGER NOT NULL REFERENCES agents(position),\n"
        "  clients INTEGER NOT NULL, lost TEXT NOT NULL, window_s REAL NOT NULL,\n"
        "  operations INTEGER NOT NULL, errors TEXT NOT NULL, bytes_in INTEGER NOT NULL, bytes_out INTEGER NOT NULL,\n"
        "  cpu_share REAL NOT NULL, cpu_us_per_operation REAL NOT NULL, run_delay_share REAL NOT NULL,\n"
        "  rss_bytes INTEGER NOT NULL, late_start_p99_ns INTEGER, lag_p99_ns INTEGER, disturbances TEXT NOT NULL,\n"
        f"  {_SUMMARY},\n"
        "  PRIMARY KEY (trial_id, agent)\n"
        ") WITHOUT ROWID;\n",
        "",
    ),
)
_MIXES = (("  mix TEXT NOT NULL, block", "  mix_clients INTEGER NOT NULL, block"),)
_STARTS = (("generator_run_delay_share REAL NOT NULL, starts TEXT,\n", "generator_run_delay_share REAL NOT NULL,\n"),)
_SEALS = (
    (
        "  writer TEXT, started_here TEXT,\n"
        "  contenders_sha256 TEXT NOT NULL, planned_sha256 TEXT NOT NULL,\n"
        "  trials INTEGER NOT NULL, trials_sha256 TEXT NOT NULL,\n"
        "  events INTEGER NOT NULL, events_sha256 TEXT NOT NULL,\n"
        "  sha256 TEXT NOT NULL\n",
        "  writer TEXT\n",
    ),
    (
        "CREATE TABLE contenders (\n"
        "  position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, address TEXT NOT NULL, reset TEXT\n);",
        "CREATE TABLE contenders (position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, address TEXT NOT NULL,\n"
        "reset TEXT);",
    ),
    (
        "  generator_run_delay_share REAL NOT NULL,\n  sha256 TEXT NOT NULL\n",
        "  generator_run_delay_share REAL NOT NULL DEFAULT 0\n",
    ),
    ("hdr BLOB NOT NULL,\n  sha256 TEXT NOT NULL,\n", "hdr BLOB NOT NULL,\n"),
)
_WAITS = (
    ("workload TEXT NOT NULL,\n  generator_run_delay_share REAL NOT NULL DEFAULT 0\n", "workload TEXT NOT NULL\n"),
)
_CONNECTIONS = (("connections TEXT NOT NULL", "connections_opened INTEGER NOT NULL"),)
_WIDTHS = (("\n  width_s REAL NOT NULL,", ""),)


def _without(tables: str, changes: tuple[tuple[str, str], ...]) -> str:
    """`tables` as they were before `changes`, each of them (now, then)."""
    for now, then in changes:
        assert tables.count(now) == 1, now
        tables = tables.replace(now, then)
    return tables


_VERSION_6 = _without(_VERSION_7, _AMENDMENTS)
_VERSION_5 = _without(_VERSION_6, _OWN_FIGURES)
_VERSION_4 = _without(_VERSION_5, _SEARCHES)
_VERSION_3 = _without(_VERSION_4, (*_AGENTS, *_MIXES, *_STARTS))
_VERSION_2 = _without(_VERSION_3, _SEALS)
_VERSION_1 = _without(_VERSION_2, _WAITS)
_SECOND_1 = _without(_VERSION_1, _CONNECTIONS)
_FIRST_1 = _without(_SECOND_1, _WIDTHS)
_GROWN_2 = _VERSION_1 + "ALTER TABLE trials ADD COLUMN generator_run_delay_share REAL NOT NULL DEFAULT 0;"

# Scripts that make the tables of each version.
OLDER: dict[int, tuple[str, ...]] = {
    1: (_VERSION_1, _SECOND_1, _FIRST_1),
    2: (_VERSION_2, _GROWN_2),
    3: (_VERSION_3,),
    4: (_VERSION_4,),
    5: (_VERSION_5,),
    6: (_VERSION_6,),
    7: (_VERSION_7,),
}
SEALED_FROM = 3
