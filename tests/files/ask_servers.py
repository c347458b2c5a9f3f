"""What servers agree to, or why not: `python -m tests.files.ask_servers ADDRESS…` prints a line of JSON for each."""

import json
import sys

from bakeoff import _engine
from tests.control import PATIENCE_S

for address in sys.argv[1:]:
    try:
        found = json.loads(_engine.try_file_server(address, PATIENCE_S))
    except (_engine.EngineError, _engine.SpecError) as error:
        found = {"refused": str(error)}
    sys.stdout.write(json.dumps(found) + "\n")
