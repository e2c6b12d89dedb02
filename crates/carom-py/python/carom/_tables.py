"""Tables of NumPy columns, and tables drawn for notebooks."""

from __future__ import annotations

import html
from typing import Any, Iterable, Iterator, Sequence

import numpy as np

_SHOWN = 20


def shown(value: Any) -> str:
    """A value in a table."""
    if isinstance(value, (float, np.floating)):
        return f"{value:.8g}"
    if isinstance(value, (list, tuple, np.ndarray)):
        return "[" + ", ".join(shown(entry) for entry in value) + "]"
    return str(value)


def draw(head: Iterable[str], rows: Iterable[Sequence[Any]], left_out: int = 0) -> str:
    """A table in HTML."""
    cells = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    lines = [f"<tr>{cells}</tr>"]
    for row in rows:
        cells = "".join(f"<td>{html.escape(shown(value))}</td>" for value in row)
        lines.append(f"<tr>{cells}</tr>")
    below = f"<p>and {left_out} more</p>" if left_out > 0 else ""
    return "<table>" + "".join(lines) + "</table>" + below


class Columns:
    """A table of NumPy columns of one length: attributes, or by name with `[...]`; an index or a mask chooses rows."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self._columns = columns

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_"):
            columns = self._columns
            if name in columns:
                return columns[name]
        raise AttributeError(f"{type(self).__name__} has no column {name}")

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self._columns[key]
        if isinstance(key, (int, np.integer)):
            return {name: column[key] for name, column in self._columns.items()}
        return type(self)({name: column[key] for name, column in self._columns.items()})

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), ()))

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._columns]

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns)

    def to_dict(self) -> dict[str, Any]:
        """The columns by name; the arrays themselves, not copies."""
        return dict(self._columns)

    def to_pandas(self) -> Any:
        """A pandas DataFrame; vectors become columns `_x`, `_y`, `_z`."""
        import pandas

        return pandas.DataFrame(dict(self._flat()))

    def _flat(self) -> Iterator[tuple[str, Any]]:
        for name, column in self._columns.items():
            if column.ndim == 1:
                yield name, column
            else:
                for axis, part in zip("xyz", column.T):
                    yield f"{name}_{axis}", part

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} rows, {', '.join(self._columns)}>"

    def _repr_html_(self) -> str:
        count = len(self)
        few = range(min(count, _SHOWN))
        rows = ([i, *(column[i] for column in self._columns.values())] for i in few)
        return draw(["", *self._columns], rows, count - len(few))
