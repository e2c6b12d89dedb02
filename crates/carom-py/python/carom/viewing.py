"""Runs in three dimensions: in the cell of a notebook, or as a page by itself that needs nothing else."""

from __future__ import annotations

import base64
import html
import os
from functools import cached_property
from pathlib import Path
from typing import Any, Optional, Union

from ._json import is_table
from ._options import number, whole
from .errors import OptionError
from .runs import Recording

_MODULE = Path(__file__).with_name("_widget.js")


class View:
    """A run to look at: turned with the mouse, played, and moved through by its time line and from event to event.

    A notebook (Jupyter, VS Code, Colab) shows it in the cell: as a widget where anywidget is installed, whose time is `time`, and as a
    page in a frame otherwise. `save` writes that page to a file.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from carom import Body, Scene, Sphere, run, view
    >>> shown = view(run(Scene(body=[Body("ball", Sphere(0.1), mass=1.0, velocity=[1, 0, 0])]), until=1.0))
    >>> shown
    <View: 1 body, 101 samples, 0 contacts of events>
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     shown.save(Path(folder) / "flight.html").name
    'flight.html'
    """

    def __init__(self, run: Recording, height: int) -> None:
        samples = int((run.samples["moment"] == "sample").sum())
        bodies = len(run.bodies)
        if samples == 0:
            raise ValueError("the run has no samples: give `sample`, the interval of output")
        count = f"{bodies} {'body' if bodies == 1 else 'bodies'}"
        self._counts = f"{count}, {samples // max(bodies, 1)} samples, {len(run.events)} contacts of events"
        self._title = str(run.to_dict().get("title") or "A run of carom")
        self._height = height
        self._stream: bytes = run._recorded.stream(str(run["stopped"]))

    @cached_property
    def widget(self) -> Any:
        """The widget, for layouts of ipywidgets and the like; anywidget must be installed."""
        from ._widget import made

        return made(_MODULE.read_text(encoding="utf-8"), self._stream, self._height)

    @property
    def time(self) -> float:
        """The time shown, in seconds: where playing last stopped. To set it goes there, in every cell that shows this view."""
        return float(self.widget.time)

    @time.setter
    def time(self, value: float) -> None:
        self.widget.time = number("time", value)

    def to_html(self) -> str:
        """The page: one text with everything in it, which asks nothing of the network."""
        module = _MODULE.read_text(encoding="utf-8").replace("</script", "<\\/script")
        stream = base64.b64encode(self._stream).decode("ascii")
        return (
            f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{html.escape(self._title)}</title>\n'
            '<style>body { margin: 8px; } :root { color-scheme: light dark; }</style>\n'
            f'<div data-carom-run data-height="{self._height}">'
            f'<script type="application/octet-stream">{stream}</script></div>\n'
            f'<script type="module">\n{module}\n</script>\n</html>\n'
        )

    def save(self, path: Union[str, "os.PathLike[str]"], *, force: bool = False) -> Path:
        """Writes the page to a file; returns its path. A file that is there is replaced only with `force`."""
        place = Path(path)
        with open(place, "w" if force else "x", encoding="utf-8", newline="\n") as file:
            file.write(self.to_html())
        return place

    def __repr__(self) -> str:
        return f"<View: {self._counts}>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        try:
            widget = self.widget
        except ImportError:
            frame = f'<iframe srcdoc="{html.escape(self.to_html())}" style="width: 100%; height: {self._height + 90}px; border: 0"></iframe>'
            return {"text/plain": repr(self), "text/html": frame}
        bundle: Any = widget._repr_mimebundle_(include=include, exclude=exclude)
        data: Any = bundle if is_table(bundle) else bundle[0] if bundle else None
        if data:
            data["text/plain"] = repr(self)
        return bundle


def view(run: Recording, *, height: Optional[int] = None) -> View:
    """Shows a run in three dimensions in a notebook, interactive, with its time line and events; `height` is in pixels (420).

    The samples are what is shown, and between them and the events the motion is interpolated. Of very long runs some are left out, as the view
    says: at most some 24 MB of samples, and 10,000 contacts of events, go to the browser. More is in the page of `carom view`.

    >>> from carom import Body, Plane, Scene, Sphere, run
    >>> ball = Body("ball", Sphere(0.5), mass=1.0, position=[0, 0, 1], velocity=[0, 0, -1])
    >>> view(run(Scene(body=[ball], plane=[Plane("floor", normal=[0, 0, 1])]), until=1.0, sample=0.02))
    <View: 1 body, 51 samples, 1 contacts of events>
    """
    pixels = 420 if height is None else whole("height", height)
    if not 100 <= pixels <= 4000:
        raise OptionError([(1, 1, "height", str(pixels), "is out of range", "a number of pixels from 100 to 4000")])
    if not isinstance(run, Recording):
        raise TypeError(f"expected a run, what `carom.run` or `carom.load` returns, found {type(run).__name__}")
    return View(run, pixels)


__all__ = ["View", "view"]
