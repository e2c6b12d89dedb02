"""Numbers of users as arrays in C order: views where they are that already, converted once where they are not."""

from __future__ import annotations

from typing import Any, Sequence, TypeGuard, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Vector = Union[Sequence[float], Floats]


def is_array(value: object) -> TypeGuard[NDArray[Any]]:
    """Whether it is NumPy's, an array or one number."""
    return isinstance(value, (np.ndarray, np.generic))


def numbers(value: ArrayLike, name: str) -> Floats:
    """An array of any shape; without a copy where it is float64 in C order."""
    given: Any = value
    if np.ma.is_masked(given):
        raise ValueError(f"{name} has masked entries, expected numbers")
    if np.iscomplexobj(given):
        raise ValueError(f"{name} is complex, expected real numbers")
    try:
        return np.asarray(value, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: expected numbers ({error})") from None


def rows(value: ArrayLike, width: int, name: str) -> Floats:
    """Rows of `width` numbers, or one row; without a copy where the array is float64 in C order."""
    array = numbers(value, name)
    if width == 1:
        if array.ndim > 1:
            raise ValueError(f"{name} has shape {array.shape}, expected one number or (n,)")
        return array.reshape(-1)
    if array.ndim not in (1, 2) or array.shape[-1] != width:
        raise ValueError(f"{name} has shape {array.shape}, expected ({width},) or (n, {width})")
    return array


def length(array: NDArray[Any], width: int) -> int:
    """How many rows an array of `rows` has."""
    return array.size // width


def agree(lengths: dict[str, int]) -> int:
    """The common number of rows, those with one row aside."""
    counts = {name: count for name, count in lengths.items() if count != 1}
    if len(set(counts.values())) > 1:
        found = ", ".join(f"{name} {count}" for name, count in counts.items())
        raise ValueError(f"numbers of rows differ: {found}; each must be one, or one number for all")
    return next(iter(counts.values()), 1)
