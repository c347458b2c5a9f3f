"""A shop that hands out tokens and takes no others: what sessions of several requests are held against."""

import json
import secrets
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

SESSION = """
[[step]]
name = "login page"
path = "/login"
expect = { status = 200, text = "<form" }
[step.take]
csrf = { between = ['name="csrf" value="', '"'] }

[[step]]
name = "log in"
method = "POST"
path = "/login"
headers = ["Content-Type: application/x-www-form-urlencoded"]
body = "user=u{client}&csrf={csrf:url}"
expect = 302
[step.take]
home = { header = "Location" }
sid = { cookie = "sid" }

[[step]]
name = "home"
path = "{home:none}"
expect = { status = 200, text = ["Welcome", "</html>"] }

[[step]]
name = "add"
method = "POST"
path = "/api/cart"
headers = ["Content-Type: application/json", "X-Session: {sid}"]
body = '{"csrf": "{csrf:json}", "items": [{"id": 7}]}'
[step.take]
item = { json = "/cart/items/0/id" }

[[step]]
name = "look"
path = "/cart/{item}"
"""
STEPS = ("login page", "log in", "home", "add", "look")


class Shop(ThreadingHTTPServer):
    """`faults` says of a fault that every so-manieth request of its step has it: `no_token`, `login_again`, `busy`."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, **faults: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.faults = faults
        self.lock = threading.Lock()
        self.asked: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.faulty: Counter[str] = Counter()
        self.users: set[str] = set()
        self.tokens: dict[str, str] = {}
        self.items: set[str] = set()

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def fault(self, name: str, step: str) -> bool:
        """Whether this request of a step has the fault."""
        every = self.faults.get(name)
        has = every is not None and self.asked[step] % every == 0
        self.faulty[name] += has
        return has


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Shop

    def log_message(self, format: str, *args: Any) -> None:
        """Silent."""

    def do_GET(self) -> None:
        path = urlsplit(self.path)
        shop = self.server
        with shop.lock:
            if path.path == "/login":
                shop.asked["login page"] += 1
                sid, token = secrets.token_hex(8), secrets.token_hex(4) + "+/=&\\"
                shop.tokens[sid] = token
                field = "" if shop.fault("no_token", "login page") else f'<input name="csrf" value="{token}">'
                return self._say(200, f"<html><form>{field}</form></html>", f"sid={sid}; Path=/; HttpOnly")
            if path.path == "/home":
                shop.asked["home"] += 1
                if shop.fault("login_again", "home"):
                    return self._say(200, "<html><form>Your session is over</form></html>")
                return self._judged("home", self._sid() in shop.tokens, "<html>Welcome</html>")
            if path.path.startswith("/cart/"):
                shop.asked["look"] += 1
                return self._judged("look", path.path.removeprefix("/cart/") in shop.items, "{}")
        return self._say(404, "")

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        shop = self.server
        with shop.lock:
            if self.path == "/login":
                shop.asked["log in"] += 1
                form = parse_qs(content.decode())
                shop.users |= set(form.get("user", ()))
                if shop.fault("busy", "log in"):
                    return self._say(503, "")
                if form.get("csrf") != [shop.tokens.get(self._sid(), "none")]:
                    shop.refused["log in"] += 1
                    return self._say(403, "")
                return self._say(302, "", location=f"{shop.url}/home?k=1")
            shop.asked["add"] += 1
            right = json.loads(content).get("csrf") == shop.tokens.get(self.headers.get("X-Session", ""), "none")
            item = secrets.randbelow(2**60)
            shop.items.add(str(item))
            return self._judged("add", right, json.dumps({"cart": {"items": [{"id": item}]}}))

    def _sid(self) -> str:
        pairs = (part.strip().partition("=") for part in self.headers.get("Cookie", "").split(";"))
        return next((value for name, _, value in pairs if name == "sid"), "")

    def _judged(self, step: str, right: bool, text: str) -> None:
        if not right:
            self.server.refused[step] += 1
        self._say(200 if right else 403, text if right else "")

    def _say(self, status: int, text: str, cookie: str = "", location: str = "") -> None:
        self.send_response(status)
        for name, value in (("Set-Cookie", cookie), ("Location", location)):
            if value:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


@contextmanager
def shop(**faults: int) -> Iterator[Shop]:
    """A shop that is open as long as the block."""
    server = Shop(**faults)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def session_file(folder: Path, text: str = SESSION) -> Path:
    """A session file in a folder."""
    path = folder / "session.toml"
    path.write_text(text)
    return path
