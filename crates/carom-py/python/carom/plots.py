"""Pictures of runs with matplotlib, one line each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence, Union

import numpy as np

from ._arrays import Floats

if TYPE_CHECKING:
    from .runs import BodyView, Recording

_MOST_BODIES = 12


def _matplotlib() -> Any:
    try:
        import matplotlib.pyplot as pyplot
    except ImportError:
        raise ImportError("pictures are drawn with matplotlib: pip install matplotlib") from None
    return pyplot


def _sampled(run: Recording) -> list[BodyView]:
    """The bodies that have samples."""
    names = set(np.unique(run.samples["body"][run.samples["moment"] == "sample"]).tolist())
    bodies = [body for body in run.bodies if body.name in names]
    if not bodies:
        raise ValueError("the run has no samples: give `sample`, the interval of output")
    return bodies


def energies(run: Recording) -> tuple[Floats, dict[str, Floats]]:
    """The energies of all bodies over time, from the samples: `translation`, `rotation`, `height` (in gravity), where the scene has
    loads `loads` (the potential of springs and constant forces), and their sum, `total`. Forces of yours are not in it."""
    _sampled(run)
    times, (kinetic, translation, potential, loads) = run._recorded.energies()
    parts: dict[str, Floats] = {
        "translation": translation,
        "rotation": kinetic - translation,
        "height": potential - loads,
    }
    if loads.any():
        parts["loads"] = loads
    parts["total"] = kinetic + potential
    return times, parts


_COLUMNS = {
    "position": ("px", "py", "pz"),
    "velocity": ("vx", "vy", "vz"),
    "angular_velocity": ("wx", "wy", "wz"),
}


def _course(run: Recording, body: str, what: str) -> tuple[Floats, Floats]:
    """The times and values of one body at all moments, in their order."""
    table = run.samples
    own = table["body"] == body
    return table["time"][own], np.stack([table[name][own] for name in _COLUMNS[what]], axis=-1)


_UNITS = {"position": "m", "velocity": "m/s", "angular_velocity": "rad/s", "energy": "J"}


def plot(run: Recording, what: Union[str, Sequence[str]]) -> Any:
    """Panels over time; impacts are marked. Between samples stand the moments before and after each impact, so that velocities jump
    where they do; energies are those at the samples."""
    pyplot = _matplotlib()
    panels = [what] if isinstance(what, str) else list(what)
    if not panels:
        raise ValueError(f"nothing is to be plotted; there are {', '.join(_UNITS)}")
    unknown = [name for name in panels if name not in _UNITS]
    if unknown:
        raise ValueError(f"nothing to plot is called {', '.join(unknown)}; there are {', '.join(_UNITS)}")
    bodies = [body for body in _sampled(run) if not body.fixed]
    figure, axes = pyplot.subplots(len(panels), 1, sharex=True, squeeze=False, figsize=(8, 2.4 * len(panels)))
    impacts = np.unique(run.events["time"][run.events["kind"] == "impact"])
    few = len(bodies) <= 4
    for name, axis in zip(panels, axes[:, 0]):
        if name == "energy":
            times, parts = energies(run)
            for part, values in parts.items():
                axis.plot(times, values, label=part, lw=2.0 if part == "total" else 1.0)
        else:
            for k, body in enumerate(bodies[:_MOST_BODIES]):
                times, values = _course(run, body.name, name)
                for i, (component, style) in enumerate(zip("xyz", ("-", "--", ":"))):
                    label = f"{body.name} {component}" if few else body.name if i == 0 else None
                    axis.plot(times, values[:, i], style, color=f"C{k}", label=label, lw=1.0)
        if impacts.size <= 200:
            for t in impacts:
                axis.axvline(t, color="0.8", lw=0.8, zorder=0)
        axis.set_ylabel(f"{name.replace('_', ' ')} / {_UNITS[name]}")
        left_out = len(bodies) - _MOST_BODIES
        more = f"and {left_out} more" if name != "energy" and left_out > 0 else None
        axis.legend(fontsize="x-small", loc="upper left", bbox_to_anchor=(1.0, 1.02), title=more)
    axes[-1, 0].set_xlabel("t / s")
    title = run.to_dict().get("title")
    if title:
        figure.suptitle(title)
    figure.tight_layout()
    return figure


__all__ = ["energies", "plot"]
