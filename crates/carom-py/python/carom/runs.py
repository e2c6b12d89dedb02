"""Runs: motion through impacts, event by event, and what they leave behind."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import cached_property
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, Literal, Mapping, NamedTuple, Optional, Sequence, TypeGuard, Union

import numpy as np
from numpy.typing import NDArray

from . import _carom
from ._arrays import Floats
from ._json import is_list, is_table
from ._progress import shown_progress
from ._options import flag, some_number, some_whole, some_word, whole
from ._tables import Columns
from .documents import ReplicasDocument, RunDocument
from .errors import AuditError, OptionError
from .flight import States
from .questions import Law, _warn
from .records import Sections
from .scene import AnyScene, read

Panel = Literal["position", "velocity", "angular_velocity", "energy"]
OnParadox = Literal["hold", "pass", "stop"]
Loop = Literal["simulation", "edmd"]
Force = Callable[[float, Floats, Floats, Floats, Floats], Any]


class Table(Columns):
    """A table of a run: NumPy columns by attribute or name, and the Arrow interface, by which pyarrow, pandas and polars take it
    without a copy (`pyarrow.table(table)`, `polars.DataFrame(table)`).

    >>> import carom
    >>> ball = carom.Body("ball", carom.Sphere(0.5), mass=1.0, position=[0, 0, 1], velocity=[0, 0, -1])
    >>> scene = carom.Scene(body=[ball], plane=[carom.Plane("floor", normal=[0, 0, 1])])
    >>> events = run(scene, until=1.0).events
    >>> len(events), events["kind"].tolist(), events.impulse[events.kind == "impact"].round(12).tolist()
    (1, ['impact'], [2.0])
    """

    def __init__(self, source: Any) -> None:
        given = is_table(source)
        self._source: Any = None if given else source
        if given:
            self._columns = source

    @cached_property
    def _columns(self) -> dict[str, Any]:  # type: ignore[override]
        if not callable(getattr(self._source, "columns", None)):
            return {name: self._source[name].to_numpy(zero_copy_only=False) for name in self._source.column_names}
        columns: dict[str, Any] = {}
        made: dict[str, Any] = self._source.columns()
        for name, column in made.items():
            if _is_pair(column):
                codes, words = column
                column = np.array(words, dtype=np.str_)[codes] if words else np.zeros(0, np.str_)
            elif is_list(column):
                lists = np.empty(len(column), dtype=object)
                lists[:] = column
                column = lists
            columns[name] = column
        return columns

    def __len__(self) -> int:
        return super().__len__() if self._source is None else len(self._source)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[i] for i in range(len(self)))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._columns,)

    def _arrow(self) -> Any:
        return super()._arrow() if self._source is None else self._source

    def __arrow_c_schema__(self) -> Any:
        source = self._arrow()
        return (source if hasattr(source, "__arrow_c_schema__") else source.schema).__arrow_c_schema__()

    def to_pandas(self) -> Any:
        """A pandas DataFrame."""
        try:
            return self.to_arrow().to_pandas()
        except ImportError:
            return super().to_pandas()


class Events(Table):
    """The events of a run: a row for every contact of every event."""

    number: NDArray[np.int64]
    time: Floats
    time_error: Floats
    kind: NDArray[np.str_]
    first: NDArray[np.str_]
    second: NDArray[np.str_]
    type: NDArray[np.str_]
    gap: Floats
    approach: Floats
    separation: Floats
    impulse: Floats
    energy_before: Floats
    energy_after: Floats


class Samples(Table):
    """The samples of a run: a row for every body at every moment, which is `sample`, `before` or `after` an event."""

    time: Floats
    body: NDArray[np.str_]
    moment: NDArray[np.str_]
    event: NDArray[np.int64]


class BodyView(NamedTuple):
    """A body of a run, as pictures need it."""

    name: str
    kind: str
    semi_axes: tuple[float, float, float]
    exponent: float
    mass: float
    inertia: tuple[float, float, float]
    fixed: bool


class PlaneView(NamedTuple):
    """A plane of a run."""

    name: str
    normal: tuple[float, float, float]
    offset: float


class Recording(RunDocument):
    """What a run left behind: `final`, `audit`, `stopped`, `settings`, `performance`, `observables` of a box, `notes`; and as tables
    `events`, `samples`, `joint_impulses` and `reactions`.

    >>> import carom
    >>> ball = carom.Body("ball", carom.Sphere(0.5), mass=1.0, position=[0, 0, 1], velocity=[0, 0, -1])
    >>> scene = carom.Scene(body=[ball], plane=[carom.Plane("floor", normal=[0, 0, 1])])
    >>> found = run(scene, until=1.0)
    >>> found
    <Recording: 1 events, 103 samples, t = 1.0, stopped: until>
    >>> found.audit.energy_error_max, found.final.ball.velocity
    (0.0, array([0., 0., 1.]))
    """

    __slots__ = ("events", "samples", "joint_impulses", "reactions", "_recorded", "_described")

    def __init__(
        self,
        document: Union[Sections, dict[str, Any]],
        tables: Mapping[str, Any],
        described: Any,
        recorded: Any,
    ) -> None:
        super().__init__(document)
        self.events = Events(tables["events"])
        self.samples = Samples(tables["samples"])
        self.joint_impulses = Table(tables["joint_impulses"]) if "joint_impulses" in tables else None
        self.reactions = Table(tables["reactions"]) if "reactions" in tables else None
        self._recorded = recorded
        self._described = described

    @property
    def bodies(self) -> list[BodyView]:
        """The bodies, in the order of the scene."""
        return [BodyView(*each) for each in self._described[0]]

    @property
    def planes(self) -> list[PlaneView]:
        """The planes."""
        return [PlaneView(*each) for each in self._described[1]]

    @property
    def gravity(self) -> Floats:
        """The gravity of the world."""
        return np.array(self._described[2])

    def to_dict(self, samples: bool = False) -> dict[str, Any]:
        """The document of `carom run --json`, events included; with `samples` also those."""
        document = super().to_dict()
        entries: dict[str, Any] = json.loads(self._recorded.entries(samples))
        return {**entries, **document}

    def trajectory(self, body: str) -> tuple[Floats, States]:
        """The times and states of one body at the sampling interval.

        >>> from carom import Body, Scene, Sphere
        >>> flying = Scene(body=[Body("ball", Sphere(0.1), mass=1.0, velocity=[1, 0, 0])])
        >>> times, states = run(flying, until=0.1, sample=0.05).trajectory("ball")
        >>> times
        array([0.  , 0.05, 0.1 ])
        """
        table = self.samples
        chosen = (table["body"] == body) & (table["moment"] == "sample")
        if not chosen.any():
            known = ", ".join(each.name for each in self.bodies[:20])
            raise KeyError(f"no samples of {body}; there are {known}, and `sample` sets the interval")

        def gather(*names: str) -> Floats:
            return np.stack([table[name][chosen] for name in names], axis=-1)

        states = States(
            gather("px", "py", "pz"),
            gather("qw", "qx", "qy", "qz"),
            gather("vx", "vy", "vz"),
            gather("wx", "wy", "wz"),
        )
        times: Floats = table["time"][chosen]
        return times, states

    def to_xarray(self) -> Any:
        """The samples as an `xarray.Dataset` over `time`, `body` and `axis`, for those at the sampling interval; `xarray` must be
        installed."""
        try:
            import xarray
        except ImportError:
            raise ImportError("to_xarray needs xarray: pip install 'carom[xarray]'") from None
        names = [each.name for each in self.bodies]
        table = self.samples
        chosen = table["moment"] == "sample"
        times: Floats = np.unique(table["time"][chosen])
        order = np.searchsorted(times, np.asarray(table["time"][chosen], dtype=np.float64))
        number = {name: k for k, name in enumerate(names)}
        bodies = np.array([number[name] for name in table["body"][chosen]], dtype=np.int64)

        def gathered(columns: str) -> Floats:
            parts = columns.split()
            values: Floats = np.full((times.size, len(names), len(parts)), np.nan)
            for k, name in enumerate(parts):
                values[order, bodies, k] = table[name][chosen]
            return values

        vector, turn = ("time", "body", "axis"), ("time", "body", "quaternion")
        return xarray.Dataset(
            {
                "position": (vector, gathered("px py pz"), {"units": "m"}),
                "orientation": (turn, gathered("qw qx qy qz")),
                "velocity": (vector, gathered("vx vy vz"), {"units": "m/s"}),
                "angular_velocity": (vector, gathered("wx wy wz"), {"units": "rad/s"}),
            },
            coords={"time": ("time", times, {"units": "s"}), "body": names, "axis": list("xyz"), "quaternion": list("wxyz")},
            attrs={"title": self.to_dict().get("title") or "", "stopped": str(self["stopped"])},
        )

    def plot(self, what: Union[Panel, Sequence[Panel]] = ("position", "velocity", "energy")) -> Any:
        """Draws positions, velocities, angular velocities and energies over time, with lines at the impacts; a matplotlib figure.
        `what` names one, or several for panels below each other. Of more than twelve bodies the first twelve are drawn."""
        from .plots import plot

        return plot(self, what)

    def save(self, folder: Union[str, "os.PathLike[str]"], *, force: bool = False) -> Path:
        """Writes the run into a folder, as `carom run -o` does, for `carom view`, `carom plot` and `carom.load`; returns its path. A run
        that is there already is replaced only with `force`. The scene goes with it as its text says: `forces` of yours, being
        functions, do not.

        >>> import tempfile
        >>> from carom import Body, Scene, Sphere, load
        >>> flying = run(Scene(body=[Body("ball", Sphere(0.1), mass=1.0, velocity=[1, 0, 0])]), until=0.1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     again = load(flying.save(folder))
        >>> again.to_dict()["final"] == flying.to_dict()["final"]
        True
        """
        place = Path(folder)
        self._recorded.save(place, flag("force", force))
        return place

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._recorded.files(), self._document())

    def _summary(self) -> str:
        found = self._document()
        events = found.get("performance", {}).get("events", len(self.events))
        return f"{events} events, {len(self.samples)} samples, t = {found['time']!r}, stopped: {found['stopped']}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._summary()}>"


class _Changes:
    """What a run is to do otherwise than its scene says, for the Rust side."""

    __slots__ = ("until", "max_events", "sample", "on_paradox", "law", "loop", "threads", "replica", "project", "strict")

    until: Optional[float]
    max_events: Optional[int]
    sample: Optional[float]
    on_paradox: Optional[str]
    law: Optional[str]
    loop: Optional[str]
    threads: Optional[int]
    replica: int
    project: bool
    strict: bool


def _changes(
    until: Any,
    max_events: Any,
    sample: Any,
    on_paradox: Any,
    law: Any,
    loop: Any,
    threads: Any,
    replica: Any,
    project: Any,
    strict: Any,
) -> _Changes:
    changes = _Changes()
    changes.until = some_number("until", until)
    changes.max_events = some_whole("max_events", max_events)
    changes.sample = some_number("sample", sample)
    changes.on_paradox = some_word("on_paradox", on_paradox)
    changes.law = some_word("law", law)
    changes.loop = some_word("loop", loop)
    changes.threads = some_whole("threads", threads)
    changes.replica = whole("replica", replica)
    changes.project = flag("project", project)
    changes.strict = flag("strict", strict)
    return changes


def run(
    scene: AnyScene,
    *,
    until: Optional[float] = None,
    max_events: Optional[int] = None,
    sample: Optional[float] = None,
    on_paradox: Optional[OnParadox] = None,
    law: Optional[Law] = None,
    loop: Optional[Loop] = None,
    threads: Optional[int] = None,
    replica: int = 0,
    forces: Optional[Mapping[Union[str, tuple[str, ...]], Force]] = None,
    derivatives: Sequence[str] = (),
    progress: Union[bool, Callable[[float, float], object], None] = None,
    project: bool = False,
    strict: bool = False,
) -> Recording:
    """Runs a scene, event by event. Ctrl-C ends it with what was reached, `stopped` = interrupted.

    What is not given is the scene's under `[run]`:

    - `until`: the time to stop at, in seconds (10).
    - `max_events`: the number of events to stop at.
    - `sample`: the interval of samples, in seconds (0.01: a run to t = 1e4 keeps a million rows a body); 0 keeps the moments of
      events only.
    - `on_paradox`: what happens where nothing closes and free flight would overlap: `hold` the contact by its finite force, `pass`
      through, or `stop`.
    - `law`: the impact law, as in `solve` (the scene's `impact.law`).
    - `loop`: `simulation`, or `edmd` for very many free bodies; without it the one that suits.
    - `threads`: how many threads work on it, where many bodies are not spheres; without it as many as there are cores. No result
      depends on it.
    - `replica`: which of the copies that differ in the seeds of their fills, as in `run_replicas`; the scene must have a fill.
    - `progress` is called with the time reached and the time wanted; `True` shows a bar, by tqdm where that is installed.
    - `project`: takes the nearest velocities that the joints allow, instead of refusing those that they forbid.
    - `strict`: the first event that the audit finds wrong by more than 1e-9 ends the run and raises `AuditError`.

    In SI units, as the scene is: metres, seconds, kilograms.

    `derivatives` are paths of numbers of the scene, as in a sweep, in a list: the recording's `derivatives` then has `parameters`, `final` (of
    each body `position`, `orientation`, `velocity` and `angular_velocity`, a row for each component, a column for each parameter; `None`
    where there is no derivative), `events`, `undefined` with the reasons, and `rounding`.

    `forces` are functions of yours: under the name of a body, or a tuple of names, `f(t, position, orientation, velocity,
    angular_velocity)` with one row per body, returning the force on each, or forces and torques. They must be as smooth as the motion
    is to be exact. Each is called at every stage of every step and for every sample, some thousand times for a swing, at about 10 µs
    and what it takes itself.

    >>> from carom import Body, Plane, Scene, Sphere
    >>> ball = Body("ball", Sphere(0.5), mass=1.0, position=[0, 0, 1], velocity=[0, 0, -1])
    >>> found = run(Scene(body=[ball], plane=[Plane("floor", normal=[0, 0, 1])]), until=1.0)
    >>> found.events.kind.tolist(), found.events.time.round(12).tolist(), found.stopped
    (['impact'], [0.5], 'until')
    >>> ball = Scene(body=[Body("ball", Sphere(0.1), mass=1.0, position=[1, 0, 0])])
    >>> swing = run(ball, until=3.141592653589793, forces={"ball": lambda t, x, q, v, w: -4.0 * x})
    >>> bool(abs(swing.final.ball.position[0] - 1.0) < 1e-12)
    True
    >>> ball = Body("ball", Sphere(0.5), mass=1.0, position=[0, 0, 1], velocity=[0, 0, -1])
    >>> thrown = Scene(body=[ball], plane=[Plane("floor", normal=[0, 0, 1])])
    >>> found = run(thrown, until=1.0, derivatives=["body.ball.velocity[2]", "surface.restitution"])
    >>> [[float(x) for x in row] for row in found.derivatives.final.ball.velocity]
    [[0.0, 0.0], [0.0, 0.0], [-1.0, 1.0]]
    """
    changes = _changes(until, max_events, sample, on_paradox, law, loop, threads, replica, project, strict)
    if isinstance(derivatives, str):
        raise TypeError("derivatives is a list of paths, not one of them")
    paths = [str(path) for path in derivatives]
    pushes: list[tuple[list[str], Callable[..., Any]]] = []
    for names, force in (forces or {}).items():
        bodies = [names] if isinstance(names, str) else list(names)
        pushes.append((bodies, _pushing(force, len(bodies))))
    with shown_progress(progress) as told:
        recorded = _carom.ask_run(read(scene), changes, paths, pushes, told)
    if recorded.warnings:
        _warn(recorded.warnings)
    answer = _recording(recorded, recorded.document)
    if strict and recorded.verdict:
        raise AuditError(f"the audit found a violation: {recorded.verdict}", answer)
    return answer


def run_many(
    scenes: Iterable[AnyScene],
    *,
    threads: Optional[int] = None,
    progress: Union[bool, Callable[[int, int], object], None] = None,
    **options: Any,
) -> list[Recording]:
    """Runs many scenes side by side, on as many threads as there are cores, and returns their recordings in the scenes' order; the
    options are those of `run`, the same for all. A scene that is wrong, and Ctrl-C, end all.

    >>> from carom import Body, Plane, Scene, Sphere, Surface
    >>> def drop(k):
    ...     ball = Body("ball", Sphere(0.5), mass=1.0, position=[0, 0, 1], velocity=[0, 0, -1])
    ...     return Scene(body=[ball], plane=[Plane("floor", normal=[0, 0, 1])], surface=Surface(restitution=k))
    >>> [float(found.final.ball.velocity[2]) for found in run_many(map(drop, [0.25, 0.5, 1.0]), until=1.0)]
    [0.25, 0.5, 1.0]
    """
    texts = [read(scene) for scene in scenes]
    workers = whole("threads", os.cpu_count() or 1 if threads is None else threads)
    if workers == 0:
        raise OptionError([(1, 1, "threads", "0", "is out of range", "a whole number from 1 to 1024")])
    found: list[Any] = [None] * len(texts)
    with shown_progress(progress) as told, ThreadPoolExecutor(max(1, min(workers, len(texts)))) as pool:
        waiting = {pool.submit(run, text, threads=1, **options): k for k, text in enumerate(texts)}
        try:
            for done, future in enumerate(as_completed(waiting), 1):
                found[waiting[future]] = future.result()
                if told is not None:
                    told(done, len(texts))
        except BaseException:
            for future in waiting:
                future.cancel()
            raise
    return found


class Replicas(ReplicasDocument):
    """The answer of `run_replicas`: `observables` pooled over the copies, each with its mean and error, and `replicas` one by one.

    >>> from carom import Fill, Scene, Sphere
    >>> gas = Fill("gas", 32, Sphere(0.5), mass=1.0, packing_fraction=0.2, temperature=1.0, seed=1)
    >>> run_replicas(Scene(fill=[gas]), 2, until=0.1)
    <Replicas: 2 copies, stopped: until>
    """

    __slots__ = ()

    def _summary(self) -> str:
        found = self._document()
        return f"{len(found['replicas'])} copies, stopped: {found['stopped']}"


def run_replicas(
    scene: AnyScene,
    replicas: int,
    *,
    until: Optional[float] = None,
    max_events: Optional[int] = None,
    law: Optional[Law] = None,
    loop: Optional[Loop] = None,
    progress: Union[bool, Callable[[int, int], object], None] = None,
    strict: bool = False,
) -> Replicas:
    """Runs independent copies of a scene with a fill, whose seeds are seed, seed + 1, …, on all cores, and pools their averages. Ctrl-C
    ends them with what was reached, by those that had begun; `progress` is called with the number of copies done and of all.

    >>> from carom import Fill, Scene, Sphere
    >>> spheres = Fill("gas", 64, Sphere(0.5), mass=1.0, packing_fraction=0.3, temperature=1.0, seed=1)
    >>> gas = run_replicas(Scene(fill=[spheres]), 3, until=0.5)
    >>> len(gas.replicas), gas.observables.compressibility.mean > 1
    (3, True)
    """
    changes = _changes(until, max_events, None, None, law, loop, None, 0, False, strict)
    with shown_progress(progress) as told:
        document, verdict, said = _carom.ask_replicas(read(scene), changes, whole("replicas", replicas), told)
    if said:
        _warn(said)
    answer = Replicas(document)
    if strict and verdict:
        raise AuditError(f"the audit found a violation: {verdict}", answer)
    return answer


def _pushing(force: Force, count: int) -> Callable[..., tuple[Floats, Floats]]:
    """A user's force, whatever it returns, as forces and torques in rows."""
    nothing = np.zeros((count, 3))

    def push(t: float, x: Floats, q: Floats, v: Floats, w: Floats) -> tuple[Floats, Floats]:
        said = force(t, x, q, v, w)
        if _is_pair(said):
            forces, torques = said
            return _rows(forces, count), _rows(torques, count)
        return _rows(said, count), nothing

    return push


def _is_pair(value: object) -> TypeGuard[tuple[Any, Any]]:
    return isinstance(value, tuple)


def _rows(value: Any, count: int) -> NDArray[np.float64]:
    return np.asarray(value, dtype=np.float64).reshape(count, 3)


def load(folder: Union[str, "os.PathLike[str]"]) -> Recording:
    """Opens the folder of a run that came to its end: one that the program wrote with `-o`, or `Recording.save`."""
    recorded = _carom.load(Path(folder))
    return _recording(recorded, recorded.document)


def _recording(recorded: Any, document: Union[Sections, dict[str, Any]]) -> Recording:
    """What a run left behind, as users see it."""
    tables = {"events": recorded.events(), "samples": recorded.samples()}
    joints, reactions = recorded.joint_impulses(), recorded.reactions()
    if len(joints):
        tables["joint_impulses"] = joints
    if len(reactions):
        tables["reactions"] = reactions
    return Recording(document, tables, recorded.described(), recorded)


def _again(files: dict[str, bytes], document: dict[str, Any]) -> Recording:
    """A recording that was pickled."""
    return _recording(_carom.reopen(files), document)
