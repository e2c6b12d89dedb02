"""Documents as objects: what the program prints with `--json`, looked at by attributes.

The sections of a document are kept as text until they are asked for. Numbers in lists become NumPy arrays, tables become records, and
`to_dict()` gives the plain document.
"""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any, ClassVar, Generic, ItemsView, Iterator, Mapping, Optional, TypeVar, Union, ValuesView

import numpy as np

from ._json import is_list, is_table, is_tables
from ._tables import draw, shown


def _numbers(value: list[Any]) -> Optional[np.ndarray[Any, Any]]:
    """A list of numbers, or of rows of numbers, as an array; nothing where it is neither."""
    first = value[0]
    if is_list(first):
        if not first or any(not is_list(row) or len(row) != len(first) for row in value):
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


def wrap(value: Any, kind: Optional[type[Record]] = None) -> Any:
    """A value of a document as users see it; `kind` is what its tables are."""
    if is_table(value):
        return Named[Any](value) if kind is None else kind(value)
    if is_list(value) and (value or kind is not None):
        array = _numbers(value) if value else None
        if array is not None:
            return array
        if all(is_table(entry) for entry in value):
            return Records[Any](value, kind)
        return [wrap(entry, kind) for entry in value]
    return value


def _copied(value: Any) -> Any:
    if is_table(value):
        return {key: _copied(entry) for key, entry in value.items()}
    if is_list(value):
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

    _parts: ClassVar[Mapping[str, type[Record]]] = {}
    """What tables in it are, and those of lists."""
    _named: ClassVar[Mapping[str, type[Record]]] = {}
    """What tables under names of their own are."""
    _arrays: ClassVar[Mapping[str, str]] = {}
    """The kinds of numbers of lists that may be empty."""

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data
        self._seen: dict[str, Any] = {}

    def _document(self) -> dict[str, Any]:
        return self._data

    def __getitem__(self, key: str) -> Any:
        seen = self._seen
        if key not in seen:
            seen[key] = self._wrapped(key, self._document()[key])
        return seen[key]

    def _wrapped(self, key: str, value: Any) -> Any:
        """An entry as users see it."""
        if key in self._named and is_table(value):
            return Named[Any](value, self._named[key])
        if key in self._arrays and value == []:
            return np.zeros(0, self._arrays[key])
        return wrap(value, self._parts.get(key))

    if not TYPE_CHECKING:
        # Checkers are to know the entries by their names.
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
        lines: list[str] = []
        for key, value in self._shown().items():
            lines.append(f"<tr><th>{html.escape(key)}</th><td>{_cell(value)}</td></tr>")
        return "<table>" + "".join(lines) + "</table>"


T = TypeVar("T")


class Named(Record, Generic[T]):
    """A table whose names are the user's, such as those of bodies: entries of one kind, by attribute or by name.

    >>> speeds = Named({"ball": [1.0, 0.0], "gas[0]": [0.0, 1.0]})
    >>> speeds.ball, speeds["gas[0]"], list(speeds)
    (array([1., 0.]), array([0., 1.]), ['ball', 'gas[0]'])
    """

    __slots__ = ("_kind",)

    def __init__(self, data: dict[str, Any], kind: Optional[type[Record]] = None) -> None:
        super().__init__(data)
        self._kind = kind

    def _wrapped(self, key: str, value: Any) -> Any:
        return wrap(value, self._kind)

    if TYPE_CHECKING:

        def __getitem__(self, key: str) -> T: ...
        def __getattr__(self, name: str) -> T: ...
        def items(self) -> ItemsView[str, T]: ...
        def values(self) -> ValuesView[T]: ...


class Records(list[T]):
    """A list of records, drawn as one table in a notebook; `column` gathers one entry of all.

    >>> pairs = Records([{"gap": 1.0}, {"gap": 2.5}])
    >>> pairs[1].gap, pairs.column("gap")
    (2.5, array([1. , 2.5]))
    """

    def __init__(self, rows: list[dict[str, Any]], kind: Optional[type[Record]] = None) -> None:
        made: Any = (wrap(row, kind) for row in rows)
        super().__init__(made)
        self._rows = rows

    def __reduce__(self) -> tuple[Any, ...]:
        return _records, (self._rows, list(map(type, self[:1])))

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


def _records(rows: list[dict[str, Any]], kinds: list[Any]) -> Records[Any]:
    """Records that were pickled."""
    return Records(rows, kinds[0] if kinds else None)


_MOST_ROWS = 20


def _short(value: Any) -> str:
    if is_table(value):
        return "{…}"
    if is_list(value) and (len(value) > 6 or any(is_list(entry) or is_table(entry) for entry in value)):
        return f"[… {len(value)}]"
    return shown(value) if not isinstance(value, str) else repr(value)


def _cell(value: Any) -> str:
    """A value in HTML, tables inside tables."""
    if is_table(value) and value:
        if all(is_table(entry) for entry in value.values()):
            names = list(dict.fromkeys(key for entry in value.values() for key in entry))
            rows = [[key, *(_plain(entry.get(name)) for name in names)] for key, entry in value.items()]
            return draw(["", *names], rows[:_MOST_ROWS], len(rows) - _MOST_ROWS)
        return draw(value.keys(), [[_plain(entry) for entry in value.values()]])
    if is_tables(value):
        names = list(dict.fromkeys(key for entry in value for key in entry))
        rows = [[_plain(entry.get(name)) for name in names] for entry in value[:_MOST_ROWS]]
        return draw(names, rows, len(value) - _MOST_ROWS)
    return html.escape(_plain(value))


def _plain(value: Any) -> str:
    if value is None:
        return ""
    if is_table(value):
        return ", ".join(f"{key}: {_plain(entry)}" for key, entry in value.items())
    if is_list(value):
        return "[" + ", ".join(_plain(entry) for entry in value) + "]"
    return shown(value)


Sections = list[tuple[str, str]]


class Answer(Record):
    """An answer: a document, each section of which is read when it is first looked at.

    >>> answer = Answer({"time": 0.5, "normal": [0.0, 0.0, 1.0]})
    >>> answer.time, answer["normal"], answer.to_json()
    (0.5, array([0., 0., 1.]), '{"time": 0.5, "normal": [0.0, 0.0, 1.0]}')
    """

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
            self._seen[key] = self._wrapped(key, json.loads(self._texts[key]))
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
