"""What `progress` shows: a function of the caller's, or with `True` a bar."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import Any, Callable, Generator, Optional

from ._options import _refuse


@contextmanager
def shown_progress(progress: Any) -> Generator[Optional[Callable[[Any, Any], object]], None, None]:
    """What to call with the part done and the whole; nothing where nothing was asked for."""
    if progress is None or progress is False:
        yield None
    elif progress is True:
        bar = _bar()
        try:
            yield bar.tell
        finally:
            bar.close()
    elif callable(progress):
        yield progress
    else:
        raise _refuse("progress", progress, "True, or a function of the part done and the whole")


def _bar() -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line()
    return _Tqdm(tqdm)


class _Tqdm:
    """A bar of tqdm's, in parts of a hundred."""

    def __init__(self, tqdm: Any) -> None:
        self._bar = tqdm(total=100.0, unit="%", bar_format="{l_bar}{bar}| {elapsed} so far, {remaining} left")

    def tell(self, done: float, whole: float) -> None:
        share = 100.0 * done / whole if whole > 0 else 100.0
        self._bar.update(max(0.0, share - self._bar.n))

    def close(self) -> None:
        self._bar.close()


class _Line:
    """A line on standard error."""

    def tell(self, done: float, whole: float) -> None:
        share = done / whole if whole > 0 else 1.0
        print(f"\r{100.0 * share:5.1f} % done", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        print(file=sys.stderr)
