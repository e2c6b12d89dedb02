"""Tables of NumPy columns, and tables drawn for notebooks."""

from __future__ import annotations

import html
import importlib
from typing import Any, Iterable, Iterator, Sequence, TypeGuard

import numpy as np

from . import _carom

_SHOWN = 20


def _is_row(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, (list, tuple, np.ndarray))


def shown(value: Any) -> str:
    """A value in a table."""
    if isinstance(value, (float, np.floating)):
        return f"{value:.8g}"
    if _is_row(value):
        return "[" + ", ".join(map(shown, value)) + "]"
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


def library(name: str) -> Any:
    """A library that tables are made for, if it is installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ImportError(f"this table is made with {name}: pip install {name}") from None


def _handed(column: Any) -> Any:
    """A column as the Rust side takes it: words as codes and what they stand for, lists as lists."""
    if column.dtype.kind == "U" or (column.dtype == object and all(isinstance(entry, str) for entry in column)):
        words, codes = np.unique(column.astype(np.str_), return_inverse=True)
        return codes.astype(np.int32), words.tolist()
    if column.dtype == object:
        return [list(entry) for entry in column]
    return column


class Columns:
    """A table of NumPy columns of one length: attributes, or by name with `[...]`; an index or a mask chooses rows. pyarrow, pandas
    and polars take it by the Arrow interface (`polars.DataFrame(table)`)."""

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
        return self._like({name: column[key] for name, column in self._columns.items()})

    def _like(self, columns: dict[str, Any]) -> Any:
        """A table of the same kind with other rows."""
        return type(self)(columns)

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

    def _arrow(self) -> Any:
        return _carom.table([(name, _handed(column)) for name, column in self._flat()])

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._arrow().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> Any:
        return self._arrow().__arrow_c_schema__()

    def to_arrow(self) -> Any:
        """A pyarrow Table; vectors become columns `_x`, `_y`, `_z`."""
        return library("pyarrow").table(self)

    def to_pandas(self) -> Any:
        """A pandas DataFrame; vectors become columns `_x`, `_y`, `_z`."""
        return library("pandas").DataFrame(dict(self._flat()))

    def to_polars(self) -> Any:
        """A polars DataFrame; vectors become columns `_x`, `_y`, `_z`."""
        return library("polars").DataFrame(self)

    def _flat(self) -> Iterator[tuple[str, Any]]:
        """Columns of one dimension, with names of their own."""
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
