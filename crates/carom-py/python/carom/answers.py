"""Answers as objects: the document that the program prints with `--json`, looked at by attributes.

The sections of a document are kept as text until they are asked for. Numbers in lists become NumPy arrays, tables become records, and
`to_dict()` gives the plain document.
"""

from __future__ import annotations

import html
import json
from collections import Counter
from typing import Any, Iterator, Mapping, Optional, Union

import numpy as np

from ._tables import draw, shown


def _numbers(value: list[Any]) -> Optional[np.ndarray[Any, Any]]:
    """A list of numbers, or of rows of numbers, as an array; nothing where it is neither."""
    first = value[0]
    if isinstance(first, list):
        if not first or any(not isinstance(row, list) or len(row) != len(first) for row in value):
            return None
        flat = [entry for row in value for entry in row]
    else:
        flat = value
    kinds = set(map(type, flat))
    if kinds == {float} or kinds == {float, int}:
        return np.array(value, dtype=np.float64)
    if kinds == {int}:
        return np.array(value, dtype=np.int64)
    if kinds == {bool}:
        return np.array(value, dtype=np.bool_)
    return None


def wrap(value: Any) -> Any:
    """A value of a document as users see it."""
    if isinstance(value, dict):
        return Record(value)
    if isinstance(value, list) and value:
        array = _numbers(value)
        if array is not None:
            return array
        if all(isinstance(entry, dict) for entry in value):
            return Records(value)
        return [wrap(entry) for entry in value]
    return value


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_copied(entry) for entry in value]
    return value


class Record(Mapping[str, Any]):
    """A table of a document: its entries by attribute or by name.

    >>> record = Record({"energy": {"before": 2.0}, "velocity": [1.0, 0.0, 0.0]})
    >>> record.energy.before
    2.0
    >>> record["velocity"]
    array([1., 0., 0.])
    """

    __slots__ = ("_data", "_seen")

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data
        self._seen: dict[str, Any] = {}

    def _document(self) -> dict[str, Any]:
        return self._data

    def __getitem__(self, key: str) -> Any:
        seen = self._seen
        if key not in seen:
            seen[key] = wrap(self._document()[key])
        return seen[key]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            known = ", ".join(self._document())
            raise AttributeError(f"no {name} here; there are {known}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._document())

    def __len__(self) -> int:
        return len(self._document())

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(key for key in self._document() if key.isidentifier())]

    def to_dict(self) -> dict[str, Any]:
        """The plain document: dictionaries, lists and numbers, all yours to change."""
        found: dict[str, Any] = _copied(self._document())
        return found

    def __repr__(self) -> str:
        entries = ", ".join(f"{key}={_short(value)}" for key, value in self._document().items())
        return f"{type(self).__name__}({entries})"

    def _shown(self) -> dict[str, Any]:
        """What a notebook shows."""
        return self._document()

    def _repr_html_(self) -> str:
        lines = []
        for key, value in self._shown().items():
            lines.append(f"<tr><th>{html.escape(key)}</th><td>{_cell(value)}</td></tr>")
        return "<table>" + "".join(lines) + "</table>"


class Records(list[Any]):
    """A list of records, drawn as one table in a notebook; `column` gathers one entry of all."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        super().__init__(Record(row) for row in rows)
        self._rows = rows

    def column(self, name: str) -> Any:
        """One entry of all records, as an array where it is made of numbers; NaN where there is none."""
        values = [row.get(name) for row in self._rows]
        if any(value is None for value in values) and all(
            value is None or isinstance(value, float) for value in values
        ):
            values = [float("nan") if value is None else value for value in values]
        return wrap(values)

    def _repr_html_(self) -> str:
        return _cell(self._rows)


_MOST_ROWS = 20


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return "{…}"
    if isinstance(value, list) and (len(value) > 6 or any(isinstance(entry, (list, dict)) for entry in value)):
        return f"[… {len(value)}]"
    return shown(value) if not isinstance(value, str) else repr(value)


def _cell(value: Any) -> str:
    """A value in HTML, tables inside tables."""
    if isinstance(value, dict) and value:
        if all(isinstance(entry, dict) for entry in value.values()):
            names = list(dict.fromkeys(key for entry in value.values() for key in entry))
            rows = [[key, *(_plain(entry.get(name)) for name in names)] for key, entry in value.items()]
            return draw(["", *names], rows[:_MOST_ROWS], len(rows) - _MOST_ROWS)
        return draw(value.keys(), [[_plain(entry) for entry in value.values()]])
    if isinstance(value, list) and value and all(isinstance(entry, dict) for entry in value):
        names = list(dict.fromkeys(key for entry in value for key in entry))
        rows = [[_plain(entry.get(name)) for name in names] for entry in value[:_MOST_ROWS]]
        return draw(names, rows, len(value) - _MOST_ROWS)
    return html.escape(_plain(value))


def _plain(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_plain(entry)}" for key, entry in value.items())
    if isinstance(value, list):
        return "[" + ", ".join(_plain(entry) for entry in value) + "]"
    return shown(value)


Sections = list[tuple[str, str]]


class Answer(Record):
    """An answer: a document, each section of which is read when it is first looked at."""

    __slots__ = ("_texts",)

    def __init__(self, document: Union[Sections, dict[str, Any]]) -> None:
        super().__init__(document if isinstance(document, dict) else {})
        self._texts: Optional[dict[str, str]] = None if isinstance(document, dict) else dict(document)

    def _document(self) -> dict[str, Any]:
        texts = self._texts
        if texts is not None:
            self._data = {name: json.loads(text) for name, text in texts.items()}
            self._texts = None
        return self._data

    def __getitem__(self, key: str) -> Any:
        if key not in self._seen and self._texts is not None and key in self._texts:
            self._seen[key] = wrap(json.loads(self._texts[key]))
        return super().__getitem__(key)

    def to_json(self) -> str:
        """The document as text; numbers read back as they were, to the bit."""
        return json.dumps(self.to_dict())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._document(),)

    def _summary(self) -> str:
        return ", ".join(self._document())

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._summary()}>"


class Solution(Answer):
    """The answer of `solve`: `bodies`, `contacts`, `joints`, `energy`, `rank`, `velocity_unique`, `impulse_unique`, `consistent`,
    `admissible`, `notes`, `audit`."""

    __slots__ = ()

    law: str
    time: float
    bodies: Record
    contacts: Any
    joints: Any
    energy: Record
    consistent: bool
    admissible: bool
    velocity_unique: bool
    impulse_unique: bool
    audit: Record

    def _shown(self) -> dict[str, Any]:
        # The problem in rows says again what stands above it.
        return {key: value for key, value in self._document().items() if key != "outcome"}

    def _summary(self) -> str:
        found = self._document()
        velocities = "; ".join(f"{name} {shown(each['velocity'])}" for name, each in found["bodies"].items())
        return f"law {found['law']}, energy {shown(found['energy']['before'])} → {shown(found['energy']['after'])}; {velocities}"


class Comparison(Answer):
    """The answer of `compare`: every law's result on the same scene, under `laws`."""

    __slots__ = ()

    laws: Record
    contacts: Any

    def _summary(self) -> str:
        laws = self._document()["laws"]
        return "energy change " + ", ".join(f"{law} {shown(each['energy_change'])}" for law, each in laws.items())


class Classification(Answer):
    """The answer of `classify`: `contacts` with their kinematics and types. `svg` is the picture, where it was asked for."""

    __slots__ = ("svg",)

    def __init__(self, document: Union[Sections, dict[str, Any]], svg: Optional[str] = None) -> None:
        super().__init__(document)
        self.svg = svg

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._document(), self.svg)

    def _repr_svg_(self) -> Optional[str]:
        return self.svg

    def _summary(self) -> str:
        contacts = self._document()["contacts"]
        return "; ".join(f"{' and '.join(each['bodies'])}: {each['type']}" for each in contacts) or "no contact"


class PairGaps(Answer):
    """The answer of `gap`: `pairs` with `gap`, `normal` and `points`."""

    __slots__ = ()

    def _summary(self) -> str:
        pairs = self._document()["pairs"]
        least = min(pairs, key=lambda pair: pair["gap"], default=None)
        if least is None:
            return "no pair"
        return f"{len(pairs)} pairs, least gap {shown(least['gap'])} of {' and '.join(least['bodies'])}"


class FirstContacts(Answer):
    """The answer of `toi`: `pairs` with `time`, `time_error`, `normal`, `point`, `approach` and `type`; `searched_until` and
    `undecided`; of a graze also `minimum` (`time`, `gap`) and `first_zero`."""

    __slots__ = ()

    def _summary(self) -> str:
        pairs = [pair for pair in self._document()["pairs"] if pair["time"] is not None]
        first = min(pairs, key=lambda pair: pair["time"], default=None)
        undecided = sum(pair["undecided"] for pair in self._document()["pairs"])
        if first is None:
            return f"{undecided} pairs undecided, no other meets" if undecided else "no pair meets"
        return f"{' and '.join(first['bodies'])} meet at t = {first['time']!r} (to {first['time_error']:.1e})"


class Resolved(Answer):
    """The answer of `generalized`: `velocity`, `impulses`, `approach`, `separation`, `energy`, `rank`, …"""

    __slots__ = ()

    def _summary(self) -> str:
        found = self._document()
        return (
            f"law {found['law']}, velocity {shown(found['velocity'])}, energy change {shown(found['energy']['change'])}"
        )


class Paper(Answer):
    """The answer of `paper`: every printed value beside the computed one, in `rows`."""

    __slots__ = ()

    def _summary(self) -> str:
        found = self._document()
        if "papers" in found:
            return ", ".join(each["name"] for each in found["papers"])
        verdicts = Counter(row["verdict"] for row in found["rows"])
        return f"{found['paper']}, " + ", ".join(f"{count} × {verdict}" for verdict, count in verdicts.items())


class Paradox(Answer):
    """The answer of `paradox`: how the bodies touch, and as `toml` a scene with them; nothing where no paradox was found."""

    __slots__ = ("toml",)

    def __init__(self, document: Union[Sections, dict[str, Any]], toml: Optional[str] = None) -> None:
        super().__init__(document)
        self.toml = toml

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._document(), self.toml)

    def _summary(self) -> str:
        found = self._document()
        return ", ".join(str(found[name]) for name in ("type", "outcome", "reason") if name in found)
