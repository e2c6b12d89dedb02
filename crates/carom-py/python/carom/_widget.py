"""The widget of `carom.view`, where anywidget is installed."""

from __future__ import annotations

from typing import Any

try:
    import anywidget
    import traitlets
except ImportError:
    raise ImportError("the widget is anywidget's: pip install 'carom[notebook]'") from None


class _Widget(anywidget.AnyWidget):
    """A run in the cell of a notebook."""

    _stream = traitlets.Bytes().tag(sync=True)
    height = traitlets.Int().tag(sync=True)
    time = traitlets.Float(0.0).tag(sync=True)


def made(module: str, stream: bytes, height: int) -> Any:
    """A widget that shows a run's stream by this module."""
    return _Widget(_esm=module, _stream=stream, height=height)
