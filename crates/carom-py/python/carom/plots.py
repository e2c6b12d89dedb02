"""Pictures of runs with matplotlib, one line each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Optional, Sequence, Union

import numpy as np

from ._arrays import Floats
from ._options import number, whole
from .errors import OptionError
from .flight import rotation
from .shapes import Ellipsoid, Shape, Superellipsoid

if TYPE_CHECKING:
    from .runs import BodyView, PlaneView, Recording

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


def outlines(body: BodyView) -> Floats:
    """The body's sections with its three coordinate planes, as points (3, n, 3) in its axes."""
    angle = np.linspace(0.0, 2.0 * np.pi, 49)
    circles = np.zeros((3, angle.size, 3))
    for k in range(3):
        circles[k, :, (k + 1) % 3] = np.cos(angle)
        circles[k, :, (k + 2) % 3] = np.sin(angle)
    shape: Shape
    if body.kind == "point":
        return np.zeros_like(circles)
    if body.kind == "superellipsoid":
        shape = Superellipsoid(body.semi_axes, body.exponent)
    else:
        shape = Ellipsoid(body.semi_axes)
    # Stretched by the semi-axes, so that points are spread evenly over long bodies too.
    return shape.surface(circles * np.array(body.semi_axes))


class Animation:
    """An animation: a notebook shows it, `save("run.gif")` and the like write it, `figure` is its first frame."""

    def __init__(self, figure: Any, draw: Callable[[int], list[Any]], frames: int, fps: float) -> None:
        self.figure = figure
        self._draw = draw
        self._frames = frames
        self._fps = fps

    @property
    def animation(self) -> Any:
        """Matplotlib's own: to be kept, shown or saved."""
        from matplotlib.animation import FuncAnimation

        return FuncAnimation(self.figure, self._draw, frames=self._frames, interval=1000.0 / self._fps, blit=False)

    def save(self, path: str, **options: Any) -> None:
        """Writes it to a file, by matplotlib's writers."""
        self.animation.save(path, fps=self._fps, **options)

    def to_html(self) -> str:
        """HTML with JavaScript controls, all in one."""
        found: str = self.animation.to_jshtml(fps=self._fps)
        return found

    def _repr_html_(self) -> str:
        return self.to_html()


def _patch(plane: PlaneView, middle: Floats, half: float) -> Optional[Floats]:
    """The square of a plane nearest to the middle of a box, as wide as the box; nothing where the plane does not come near."""
    normal = np.array(plane.normal)
    away = float(normal @ middle) - plane.offset
    if abs(away) > np.sqrt(3.0) * half:
        return None
    one = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
    one /= np.linalg.norm(one)
    two = np.cross(normal, one)
    corners = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]]) * half
    patch: Floats = middle - away * normal + corners @ np.stack([one, two])
    return patch


def animate(run: Recording, frames: int, fps: float, view: tuple[float, float]) -> Animation:
    """The bodies' outlines in motion, and the planes, at one scale in all directions."""
    if whole("frames", frames) < 1:
        raise OptionError([(1, 1, "frames", str(frames), "is out of range", "a whole number, at least 1")])
    if not 0.0 < number("fps", fps) < np.inf:
        raise OptionError([(1, 1, "fps", str(fps), "is out of range", "a number greater than 0")])
    pyplot = _matplotlib()
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    drawn = []
    times: Floats = np.zeros(0)
    chosen = np.zeros(0, dtype=np.intp)
    for k, body in enumerate(_sampled(run)):
        times, states = run.trajectory(body.name)
        chosen = np.unique(np.linspace(0, times.size - 1, min(frames, times.size)).round().astype(np.intp))
        turned = np.einsum("tij,cpj->tcpi", rotation(states.orientation[chosen]), outlines(body))
        drawn.append((body, turned + states.position[chosen][:, None, None, :], f"C{k % 10}"))
    everything = np.concatenate([places.reshape(-1, 3) for _, places, _ in drawn])
    low, high = everything.min(axis=0), everything.max(axis=0)
    middle, half = 0.5 * (low + high), 0.52 * float((high - low).max()) or 1.0
    figure = pyplot.figure(figsize=(6, 5), dpi=72)
    axes = figure.add_subplot(projection="3d")
    axes.set(xlabel="x / m", ylabel="y / m", zlabel="z / m")
    for set_limits, centre in zip((axes.set_xlim, axes.set_ylim, axes.set_zlim), middle):
        set_limits(centre - half, centre + half)
    axes.set_box_aspect((1.0, 1.0, 1.0))
    for plane in run.planes:
        patch = _patch(plane, middle, half)
        if patch is not None:
            axes.add_collection3d(Poly3DCollection([patch], facecolor="0.7", edgecolor="0.5", alpha=0.3))
    axes.view_init(*view)
    lines = [[axes.plot([], [], [], color=colour, lw=1.2)[0] for _ in range(3)] for _, _, colour in drawn]
    title = axes.set_title("")

    def draw(frame: int) -> list[Any]:
        for (_, places, _), own in zip(drawn, lines):
            for line, points in zip(own, places[frame]):
                line.set_data_3d(*points.T)
        title.set_text(f"t = {times[chosen[frame]]:.4g} s")
        return [line for own in lines for line in own]

    draw(0)
    pyplot.close(figure)
    return Animation(figure, draw, int(chosen.size), fps)


__all__ = ["Animation", "animate", "energies", "outlines", "plot"]
