"""A report is made to be passed on: what looks like a secret is left out of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, TypeVar

from bakeoff.plan.input.secrets import SECRET

T = TypeVar("T")

# What requests carry may be anything, and is long.
CONTENT = "content"
# What plans run in a shell: a password may stand on the line.
COMMANDS = frozenset({"reset", "cold_command"})
# Headers that plans add to requests: whatever is not known to be harmless may be a key to somebody's account.
HEADERS = frozenset({"header", "headers"})
HARMLESS_HEADERS = (
    "accept accept-charset accept-encoding accept-language cache-control connection content-encoding content-length "
    "content-type date dnt expect host if-match if-modified-since if-none-match if-range if-unmodified-since origin "
    "pragma priority range referer sec-fetch-dest sec-fetch-mode sec-fetch-site te upgrade-insecure-requests "
    "user-agent via x-forwarded-for x-forwarded-host x-forwarded-proto x-requested-with"
)
HIDDEN = "(hidden)"
_HEADER = re.compile(r"[A-Za-z0-9_-]+:")
# `?token=…&sig=…` of an address: by the last part of the name.
_QUERY = re.compile(
    r"(?i)([?&;](?:[a-z0-9]{1,40}[-_.]){0,6}(?:[a-z0-9]{0,20}token|api-?key|apikey|key|sig|signature|secret|password|"
    r"passwd|pass|pwd|auth|authorization|credential|credentials|session|sessionid|sid|jwt|code|otp|hmac)=)"
    r"(?!\(hidden)[^&;#\s\"'<>]{1,4000}"
)
# curl -u USER:WORD, mysql -pWORD, sshpass -p WORD, redis-cli -a WORD, ldapsearch -w WORD; -H 'Name: value'.
_USER_OF_CURL = re.compile(
    r"(\b(?:curl|wget|http)\b[^\n]{0,400}?\s(?:-u|--user|--proxy-user|-U)(?:[ \t]{1,20}|=)[\"']?[^\s:\"']{1,200}:)"
    r"(?!\(hidden)[^\s\"']{1,400}"
)
_PASSWORDS_IN_COMMANDS = (
    re.compile(r"(\b(?:mysql|mariadb)[a-z-]{0,20}\b[^\n|;&]{0,400}?\s-p)(?!\(hidden)[^\s\"']{1,200}"),
    re.compile(r"(\bsshpass\b[^\n|;&]{0,100}?\s-p[ \t]{0,20}+)(?!\(hidden)[^\s]{1,200}"),
    re.compile(r"(\bredis-cli\b[^\n|;&]{0,400}?\s-a[ \t]{0,20}+)(?!\(hidden)[^\s]{1,200}"),
    re.compile(r"(\bldap[a-z]{1,20}\b[^\n|;&]{0,400}?\s-w[ \t]{0,20}+)(?!\(hidden)[^\s]{1,200}"),
)
_HEADER_OF_CURL = re.compile(
    r"((?:^|\s)(?:-H|--header)(?:[ \t]{0,20}|=)[\"']?([A-Za-z0-9_-]{1,100}):[ \t]{0,20}+)(?!\(hidden)([^\"'\n]{1,4000})"
)

# More names than those of settings: what configurations of servers call theirs.
_NAMES = (
    r"passphrase|pwd|authorization|basic_auth|cookie|credentials?|community|bindpw|psk|requirepass|masterauth|"
    r"(?:api|access|private|preshared|secret|licen[cs]e|account|encryption|shared|signing)[-_ ]?key(?:[-_ ]?id)?"
)
# NAME = value, NAME: value, NAME "value"; the name may have parts before and behind: DB_PASSWORD_MAIN. Every part is
# bounded, so that no text takes long.
_ASSIGNED = re.compile(
    rf"(?i)(?<![a-z0-9])((?:[a-z0-9]{{1,40}}[-_.]){{0,5}}(?:[a-z0-9]{{0,40}}(?:password|passwd|secret|token)|{_NAMES})"
    r"(?:[-_.][a-z0-9]{1,40}){0,4}[\"']?[ \t]{0,20}"
    r"(?:[=:][ \t]{0,20}(?:(?:bearer|basic|digest)[ \t]{1,20})?|(?=[\"'])))"
    r"(?!\(hidden\))(\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|[^\s,;\"'}\])]+)"
)
_FLAG = re.compile(
    r"(?i)(--?(?:[a-z0-9]{1,40}-){0,5}(?:password|passwd|pass|secret|token|api-key)[ \t]{1,20})"
    r"(?!\(hidden\))(\"[^\"\n]*\"|'[^'\n]*'|[^\s-]\S*)"
)
# NAME value, alone on its line: as nginx, Apache, Redis and SNMP have it. `server_tokens off;` is none.
_DIRECTIVE = re.compile(
    r"(?im)^([ \t]{0,40}[a-z0-9_.-]{0,60}(?:requirepass|masterauth|password|passwd|passphrase|bindpw|secret|token|"
    r"r[ow]community)[ \t]{1,20})(?!\(hidden\))(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s;]+)[ \t;]*$"
)
# `pass` is a word of many meanings: with = it is one.
_PASS = re.compile(
    r"(?i)(?<![a-z0-9])((?:[a-z0-9]{1,40}[-_.]){0,5}(?:db|sql|smtp|mail|ldap|user|my)?pass[ \t]{0,20}=[ \t]{0,20}+)"
    r"(?!\(hidden\))(\"[^\"\n]*\"|'[^'\n]*'|[^\s,;\"'}\])]+)"
)
# How Dovecot, OpenLDAP and htpasswd write what a password became.
_SCHEMES = (
    r"PLAIN|CLEARTEXT|PLAIN-TRUNC|CRYPT|(?:MD5|SHA256|SHA512|BLF|DES)-CRYPT|S?MD5|S?SHA(?:1|224|256|384|512)?|PBKDF2|"
    r"ARGON2I?D?|CRAM-MD5|DIGEST-MD5|SCRAM-SHA-(?:1|256)|NTLM|LANMAN|HMAC-MD5"
)
# user:hash of htpasswd's oldest form, which is 13 signs long.
_CRYPT = re.compile(r"(?m)^([\w.@-]{1,100}:)[./0-9A-Za-z]{13}$")
_PRIVATE = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (_QUERY, rf"\1{HIDDEN}"),
    (_USER_OF_CURL, rf"\1{HIDDEN}"),
    *((pattern, rf"\1{HIDDEN}") for pattern in _PASSWORDS_IN_COMMANDS),
    (re.compile(rf"-----BEGIN {_PRIVATE}.*?(?:-----END {_PRIVATE}|\Z)", re.DOTALL), HIDDEN),
    (re.compile(r"(?i)\b([a-z][a-z0-9+.-]{1,20}://[^\s/:@]{0,200}):[^\s/@]{1,200}@"), rf"\1:{HIDDEN}@"),
    (re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"), HIDDEN),
    (re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_\w{20,255}|glpat-[\w-]{20,64})"), HIDDEN),
    (re.compile(r"\bxox[abeoprs]-[A-Za-z0-9-]{10,200}|\bsk[-_](?:[a-z]{2,8}[-_])?[A-Za-z0-9_-]{20,200}"), HIDDEN),
    (re.compile(r"\beyJ[\w-]{8,2000}\.eyJ[\w-]{8,4000}\.[\w-]*"), HIDDEN),
    (re.compile(r"\$(?:1|2[abxy]?|5|6|7|y|apr1|argon2(?:id|i|d))\$[^\s:]{8,300}"), HIDDEN),
    (re.compile(r"\bAIza[A-Za-z0-9_-]{35}|\bnpm_[A-Za-z0-9]{36}|\bSG\.[\w-]{16,40}\.[\w-]{16,80}"), HIDDEN),
    (re.compile(rf"(?i)(\{{(?:{_SCHEMES})(?:\.(?:b64|hex))?\}})(?!\(hidden\))[^\s:]{{1,400}}"), rf"\1{HIDDEN}"),
    # Maps of Postfix and lines of Exim: where to, and by which name and password.
    (re.compile(r"(?m)^(\[[^\]\s]{1,253}\](?::\w{1,10})?[ \t]{1,20}[^\s:]{1,200}:)(?!\(hidden\))\S+"), rf"\1{HIDDEN}"),
    (re.compile(r"(?i)\b(static:[^\s:,]{1,200}:|inline:\{)(?!\(hidden\))[^\n]+"), rf"\1{HIDDEN}"),
    (
        re.compile(
            r"(?im)^([ \t]{0,40}(?:hide[ \t]{1,20}\w{1,60}|client_send)[ \t]{0,20}=[ \t]{0,20}+)(?!\(hidden\)).+$"
        ),
        rf"\1{HIDDEN}",
    ),
    (
        re.compile(r"(?i)(identified[ \t]{1,20}by[ \t]{1,20}+)(?!\(hidden\))(?:'[^'\n]*'|\"[^\"\n]*\"|\S+)"),
        rf"\1{HIDDEN}",
    ),
    (_CRYPT, rf"\1{HIDDEN}"),
    (_PASS, rf"\1{HIDDEN}"),
    (_FLAG, rf"\1{HIDDEN}"),
    (_DIRECTIVE, rf"\1{HIDDEN}"),
    (re.compile(r"(?i)\b((?:bearer|basic)[ \t]{1,20})[A-Za-z0-9+/_.=~-]{12,}"), rf"\1{HIDDEN}"),
    (_ASSIGNED, rf"\1{HIDDEN}"),
)


def _same(name: str, secret: Any) -> str:
    return HIDDEN


class Apart:
    """What stands in the place of secrets where it must be seen which of them differ: `(hidden)` of the first of a
    name, `(hidden 2)` of another. Of equal ones it is the same, also in several values that are hidden by one of these.
    """

    def __init__(self) -> None:
        self._known: dict[str, dict[str, str]] = {}

    def __call__(self, name: str, secret: Any) -> str:
        """What stands for `secret`, which has this name."""
        known = self._known.setdefault(name.lower(), {})
        text = json.dumps(secret, sort_keys=True, default=str)
        return known.setdefault(text, f"(hidden {len(known) + 1})" if known else HIDDEN)


Cover = Callable[[str, Any], str]


def hidden(value: Any, cover: Cover = _same) -> Any:
    """`value` with everything under a secret-looking name replaced: a report is made to be passed on."""
    if isinstance(value, dict):
        return {
            k: cover(str(k), v) if v and (k == CONTENT or _secret(k)) else _member(k, v, cover)
            for k, v in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [hidden(item, cover) for item in value]
    if not isinstance(value, str):
        return value
    if _HEADER.match(value) and _secret(value.partition(":")[0]):
        return _header(value, cover)
    return _QUERY.sub(lambda found: found[1] + cover(found[1][1:-1], found[0]), value)


def _member(name: object, value: Any, cover: Cover) -> Any:
    if name in COMMANDS and isinstance(value, str):
        return without_secrets(value)
    if name in HEADERS and isinstance(value, (list, tuple)):
        return [_header(one, cover) if _is_own_header(one) else hidden(one, cover) for one in value]
    if name in HEADERS and isinstance(value, dict):
        return {of: hidden(one, cover) if _is_harmless(of) else cover(str(of), one) for of, one in value.items()}
    return hidden(value, cover)


def _header(text: str, cover: Cover) -> str:
    name, _, rest = text.partition(":")
    return f"{name}: {cover(name, rest.strip())}"


def _is_own_header(text: Any) -> bool:
    return isinstance(text, str) and _HEADER.match(text) is not None and not _is_harmless(text.partition(":")[0])


def _is_harmless(name: object) -> bool:
    return str(name).strip().lower() in HARMLESS_HEADERS.split()


def _of_curl(found: re.Match[str]) -> str:
    return found[0] if _is_harmless(found[2]) else f"{found[1]}{HIDDEN}"


def without_secrets(value: T) -> T:
    """`value` without what looks like a secret inside of its texts either: people paste configuration files."""
    if isinstance(value, str):
        text: str = hidden(value)
        for pattern, put in _RULES:
            text = pattern.sub(put, text)
        return _HEADER_OF_CURL.sub(_of_curl, text)  # type: ignore[return-value]
    if isinstance(value, dict):
        return {k: HIDDEN if v and _secret(k) else without_secrets(v) for k, v in value.items()}  # type: ignore[return-value]
    if isinstance(value, (list, tuple)):
        return type(value)(without_secrets(item) for item in value)
    return value


def _secret(name: object) -> bool:
    """Whether something is a secret by its name; tcp_syncookies is a setting of the kernel."""
    return any(part in str(name).lower().replace("syncookies", "") for part in SECRET)
