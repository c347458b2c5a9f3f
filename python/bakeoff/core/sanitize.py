"""Text from outside made harmless: what would steer a terminal, or turn the reading order, is written out."""

import re

# Control characters but tab and line ends, invisible and direction-changing ones, and what is no character at all.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]|\r(?!\n)"
)


def sanitize(text: str) -> str:
    """`text` with a sign in place of each control character: ␛ for escape, `\\u202e` for a change of direction.

    The second form means the same character within JSON and TOML, where the first ones never stand as they are.
    """
    return _HIDDEN.sub(_sign, text)


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
