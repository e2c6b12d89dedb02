"""Options as users give them: what is of the wrong kind is an `OptionError` that names the option."""

from __future__ import annotations

import operator
from typing import Any, Optional, Union

import numpy as np

from .errors import OptionError

_FLAGS = (bool, np.bool_)


def _refuse(name: str, value: object, expected: str) -> OptionError:
    return OptionError([(1, 1, name, repr(value), f"is {_article(type(value).__name__)}", expected)])


def _article(kind: str) -> str:
    return f"an {kind}" if kind[:1] in "aeiou" else f"a {kind}"


def _is_one(value: object, kinds: tuple[type, ...]) -> bool:
    """`isinstance`, after which a checker knows no more than before."""
    return isinstance(value, kinds)


def number(name: str, value: Any) -> float:
    """A number, whatever kind of number it is."""
    if not _is_one(value, (*_FLAGS, str, bytes)):
        try:
            return float(value)
        except (TypeError, ValueError):
            pass
    raise _refuse(name, value, "a number")


def some_number(name: str, value: Any) -> Optional[float]:
    """A number, or nothing."""
    return None if value is None else number(name, value)


def whole(name: str, value: Any) -> int:
    """A whole number that is not negative and fits into 64 bits."""
    if not _is_one(value, _FLAGS):
        try:
            found = operator.index(value)
        except TypeError:
            raise _refuse(name, value, "a whole number") from None
        if 0 <= found < 2**64:
            return found
        raise OptionError([(1, 1, name, str(found), "is out of range", "a whole number from 0 to 2^64 - 1")])
    raise _refuse(name, value, "a whole number")


def some_whole(name: str, value: Any) -> Optional[int]:
    """A whole number, or nothing."""
    return None if value is None else whole(name, value)


def flag(name: str, value: Any) -> bool:
    """True or False."""
    if _is_one(value, _FLAGS):
        return bool(value)
    raise _refuse(name, value, "True or False")


def word(name: str, value: Any) -> str:
    """A name."""
    if isinstance(value, str):
        return value
    raise _refuse(name, value, "a name")


def some_word(name: str, value: Any) -> Optional[str]:
    """A name, or nothing."""
    return None if value is None else word(name, value)


def some_order(name: str, value: Any) -> Union[str, list[int], None]:
    """A name, or numbers of rows, or nothing."""
    if value is None or isinstance(value, str):
        return value
    try:
        return [operator.index(entry) for entry in value if whole(name, entry) >= 0]
    except (TypeError, OptionError):
        raise _refuse(name, value, "given, reversed, fastest, or numbers of contacts") from None
