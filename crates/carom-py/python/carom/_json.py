"""The two kinds of JSON that hold others, known to type checkers."""

from __future__ import annotations

from typing import Any, Mapping, TypeGuard


def is_table(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a value of a document is a table."""
    return isinstance(value, dict)


def is_mapping(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether it is something like a table."""
    return isinstance(value, Mapping)


def is_tables(value: object) -> TypeGuard[list[dict[str, Any]]]:
    """Whether it is a list of tables, of one at least."""
    return is_list(value) and bool(value) and all(is_table(entry) for entry in value)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Whether it is a list."""
    return isinstance(value, list)
