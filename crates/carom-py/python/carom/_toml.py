"""A scene's document as TOML, in the order and layout that people write."""

from __future__ import annotations

import json
import re
from typing import Any

from ._json import is_list, is_table, is_tables

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name)


def _value(value: Any) -> str:
    """A value in one line."""
    if is_table(value):
        return "{ " + ", ".join(f"{_key(name)} = {_value(entry)}" for name, entry in value.items()) + " }" if value else "{}"
    if is_list(value):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    # Numbers and strings of JSON are TOML's, but for its DEL, and surrogates that JSON escapes in pairs.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f") if isinstance(value, str) else repr(value)


def _table(head: str, table: dict[str, Any]) -> list[str]:
    return ["", head, *(f"{_key(name)} = {_value(entry)}" for name, entry in table.items())]


def written(document: dict[str, Any]) -> str:
    """The text of a document: plain entries first, then a table or a list of tables each."""
    lines = [f"{_key(name)} = {_value(entry)}" for name, entry in document.items() if not has_heading(entry)]
    for name, entry in document.items():
        if is_table(entry):
            pairs: Any = entry.get("pair", [])
            lines += _table(f"[{_key(name)}]", {key: part for key, part in entry.items() if key != "pair" or not is_tables(pairs)})
            if is_tables(pairs):
                for pair in pairs:
                    lines += _table(f"[[{_key(name)}.pair]]", pair)
        elif is_tables(entry):
            for part in entry:
                lines += _table(f"[[{_key(name)}]]", part)
    return "\n".join(lines) + "\n"


def has_heading(entry: object) -> bool:
    """Whether something has a heading of its own: a table, or a list of tables."""
    return is_table(entry) or is_tables(entry)
