"""Ensembles: one scene many times with numbers that vary, and two bodies thrown at each other many times.

Sample i depends on the seed and on i alone: the same bits for any number of threads, and on any executor.
"""

from __future__ import annotations

import json
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from typing import Any, Callable, Iterable, Literal, Mapping, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from . import _carom
from ._arrays import Floats, is_array
from ._json import is_mapping
from ._options import _refuse, flag, some_whole, word
from ._progress import shown_progress
from .documents import ScatterDocument
from .errors import OptionError
from .questions import _warn
from .records import Sections
from .runs import Table
from .scene import AnyScene, read

Collect = Literal["first_event", "extrema", "observables"]
Way = Union[str, Mapping[str, Any], Sequence[float]]
Vary = Union[Mapping[str, Way], Iterable[Union[str, Mapping[str, Any]]]]
Told = Optional[Callable[[int, int], object]]

_PARTS = 64
_LONGEST = 1000
_WAITING = 256


class Sweep(Table):
    """The answer of `sweep`: one row per sample. Columns: `sample`, what was varied (by its path or name), `stopped` and `reason`, `time`,
    `events`, `impacts`, `energy_error_max`, `linear_error_max`, `gap_min`, the final states `ball.px` … `ball.wz`, and what is collected.
    A sample that cannot be run has `stopped` = `invalid`, the `reason`, and NaN elsewhere.

    >>> from carom import Body, Run, Scene, Sphere
    >>> flight = Scene(body=[Body("ball", Sphere(0.5), mass=1.0)], run=Run(until=1.0))
    >>> found = sweep(flight, {"body.ball.velocity[0]": [1.0, 2.0]})
    >>> found
    <Sweep: 2 samples over body.ball.velocity[0]>
    >>> found["ball.px"].tolist()
    [1.0, 2.0]
    """

    sample: NDArray[np.int64]
    stopped: NDArray[np.str_]
    reason: NDArray[np.str_]
    time: Floats
    events: NDArray[np.int64]
    impacts: NDArray[np.int64]
    energy_error_max: Floats

    def __init__(self, source: Any, varied: Sequence[str] = (), asked: Optional[int] = None) -> None:
        super().__init__(source)
        self.varied = list(varied)
        self.asked = len(self) if asked is None else asked

    @property
    def complete(self) -> bool:
        """Whether all the samples are here that were asked for: after Ctrl-C they are not."""
        return len(self) == self.asked

    def _like(self, columns: dict[str, Any]) -> Sweep:
        return Sweep(columns, self.varied)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._columns, self.varied, self.asked)

    def __repr__(self) -> str:
        count = str(len(self)) if self.complete else f"{len(self)} of {self.asked}"
        return f"<Sweep: {count} samples over {', '.join(self.varied)}>"


def _entries(vary: Vary) -> str:
    """What varies as a list like that of `[[sweep.vary]]`, in JSON; empty where the scene says all."""
    given: Iterable[Any]
    if is_mapping(vary):
        given = [_entry(path, way) for path, way in vary.items()]
    elif isinstance(vary, str):
        given = [vary]
    else:
        given = (each for each in vary)
    entries = [_line(each) if isinstance(each, str) else _table(each) for each in given]
    return json.dumps(entries) if entries else ""


def _entry(path: Any, way: Any) -> Union[str, dict[str, Any]]:
    name = word("vary", path)
    if isinstance(way, str):
        return f"{name}={way}"
    key = "path" if "." in name else "name"
    if is_mapping(way):
        return {key: name, **way}
    return {key: name, "values": way}


def _line(line: str) -> Any:
    try:
        return json.loads(_carom.vary_entry(line))
    except ValueError as error:
        raise OptionError([(1, 1, "vary", repr(line), str(error), None)]) from None


def _table(entry: Any) -> Any:
    if not is_mapping(entry):
        raise _refuse("vary", entry, "a line such as 'surface.restitution=uniform(0, 1)', or a dictionary")
    # What NumPy gives is made of lists and plain numbers.
    return {key: value.tolist() if is_array(value) else value for key, value in entry.items()}


def sweep(
    scene: AnyScene,
    vary: Vary = (),
    samples: Optional[int] = None,
    *,
    seed: Optional[int] = None,
    collect: Sequence[Collect] = (),
    executor: Union[Executor, Any, None] = None,
    chunk: Optional[int] = None,
    threads: Optional[int] = None,
    progress: Union[bool, Callable[[int, int], object], None] = None,
) -> Sweep:
    """Runs a scene many times with numbers that vary: `carom sweep`, with the rows in memory. Ctrl-C ends it with the rows that there
    are, from the first on without a gap.

    - `vary`: besides or instead of the scene's `[[sweep.vary]]`, how each path or name varies: `{"surface.restitution": "uniform(0, 1)"}`,
      the same as a table, `{"surface.restitution": {"uniform": [0, 1]}}`, or a list of values.
    - `samples`, `seed`, `collect`: as in the scene's `[sweep]`; without samples there is one for each point of the grid.
    - `executor`: where samples run: a `ProcessPoolExecutor`, mpi4py's `MPIPoolExecutor`, a Dask `Client` or its `get_executor()`; without
      one, threads of this process. carom must be installed there, in this version.
    - `chunk`: how many samples an executor gets at once.
    - `threads`: how many run at once in one process; by default as many as there are cores, and one with an executor.
    - `progress`: called with the number of samples done and of all; `True` shows a bar.

    >>> from carom import Body, Plane, Run, Scene, Sphere, World
    >>> drop = Scene(
    ...     world=World(gravity=[0, 0, -2.0]), run=Run(until=1.5),
    ...     body=[Body("ball", Sphere(0.5), mass=1.0, position=[0, 0, 1.5])],
    ...     plane=[Plane("floor", normal=[0, 0, 1])],
    ... )
    >>> found = sweep(drop, {"surface.restitution": "grid(0.5, 1, 3)"})
    >>> found["surface.restitution"].tolist(), found["ball.vz"].round(12).tolist()
    ([0.5, 0.75, 1.0], [0.0, 0.5, 1.0])
    """
    if isinstance(collect, str):
        raise _refuse("collect", collect, "a list of names")
    question = (
        read(scene),
        _entries(vary),
        some_whole("samples", samples),
        some_whole("seed", seed),
        [word("collect", name) for name in collect],
    )
    plan = _carom.Sweep(*question)
    wanted, size = some_whole("threads", threads), some_whole("chunk", chunk)
    if size == 0:
        raise OptionError([(1, 1, "chunk", "0", "is out of range", "a whole number greater than 0")])
    with shown_progress(progress) as told:
        if executor is None:
            table, raised = plan.rows(0, plan.samples, wanted, told)
            if raised is not None and not isinstance(raised, KeyboardInterrupt):
                raise raised
            return Sweep(table, plan.varied, plan.samples)
        parts = _parts(_executor(executor), question, plan, size, wanted or 1, told)
    parts = parts or [Table(plan.rows(0, 0, 1)[0])._columns]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return Sweep(columns, plan.varied, plan.samples)


def _executor(executor: Any) -> Any:
    """What takes tasks: a Dask client has an executor."""
    if hasattr(executor, "get_executor"):
        return executor.get_executor(pure=False)
    if not callable(getattr(executor, "submit", None)):
        raise _refuse("executor", executor, "a concurrent.futures.Executor, or a Dask Client")
    return executor


def _part(question: tuple[Any, ...], identity: str, version: str, start: int, stop: int, threads: int) -> dict[str, Any]:
    """A range of samples, wherever it is asked for."""
    if version != _carom.__version__:
        raise RuntimeError(f"a worker has carom {_carom.__version__}, the sweep was begun with {version}")
    plan = _carom.Sweep(*question)
    if plan.identity != identity:
        raise RuntimeError("a worker reads the scene otherwise than the process that began the sweep")
    table, raised = plan.rows(start, stop, threads)
    if raised is not None:
        raise raised
    return Table(table)._columns


def _parts(
    executor: Any, question: tuple[Any, ...], plan: Any, size: Optional[int], threads: int, told: Told
) -> list[dict[str, Any]]:
    """The columns of all parts in order; after Ctrl-C of those before the first that is missing."""
    samples: int = plan.samples
    step = size or max(1, min(_LONGEST, samples // _PARTS))
    starts = iter(range(0, samples, step))
    waiting: dict[Future[Any], int] = {}
    found: dict[int, dict[str, Any]] = {}
    done = 0
    try:
        while True:
            for start in starts:
                stop = min(samples, start + step)
                task = executor.submit(_part, question, plan.identity, _carom.__version__, start, stop, threads)
                waiting[task] = start
                if len(waiting) >= _WAITING:
                    break
            if not waiting:
                break
            for task in wait(waiting, return_when=FIRST_COMPLETED).done:
                start = waiting.pop(task)
                found[start] = task.result()
                done += len(found[start]["sample"])
            if told is not None:
                told(done, samples)
    except BaseException as error:
        for task in waiting:
            task.cancel()
        if not isinstance(error, KeyboardInterrupt):
            raise
    ordered: list[dict[str, Any]] = []
    for start in range(0, samples, step):
        if start not in found:
            break
        ordered.append(found[start])
    return ordered


class Scattering(ScatterDocument):
    """The answer of `scatter`: `samples`, `hits`, `cross_section`, `impacts`, `energy_loss`, `exchange`, `drag` and more, each with its
    `mean` and `error`; `angle`, the distribution of the scattering angle; `hash`, of the bits of all samples. `encounters` is the table of
    all samples, where it was asked for.

    >>> from carom import Body, Scene, Sphere
    >>> scatter(Scene(body=[Body("one", Sphere(0.5), mass=1.0), Body("two", Sphere(0.5), mass=1.0)]), samples=1000)
    <Scattering: 1000 of 1000 hit, cross-section 3.14159 ± 0>
    """

    __slots__ = ("encounters",)

    def __init__(self, document: Union[Sections, dict[str, Any]], encounters: Optional[Table] = None) -> None:
        super().__init__(document)
        self.encounters = encounters

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._document(), self.encounters)

    def _summary(self) -> str:
        found = self._document()
        section = found["cross_section"]
        return f"{found['hits']} of {found['samples']} hit, cross-section {section['mean']:.6g} ± {section['error']:.1g}"


def scatter(
    scene: AnyScene,
    *,
    samples: Optional[int] = None,
    seed: Optional[int] = None,
    rows: bool = False,
    threads: Optional[int] = None,
    device: str = "cpu",
    progress: Union[bool, Callable[[int, int], object], None] = None,
) -> Scattering:
    """Throws a scene's two bodies at each other, many times: `carom scatter`. Ctrl-C ends it with the samples that there are.

    - `samples`, `seed`: instead of those of the scene's `[scatter]`, which says what the beam is.
    - `rows`: keep a row for every sample, in `encounters`.
    - `threads`: how many threads work; by default as many as there are cores. No result depends on it.
    - `device`: where the samples are followed, `"cpu"`, `"gpu"` (the first NVIDIA GPU) or `"auto"`, which falls back on the CPU. No result
      depends on it.
    - `progress`: called with the number of samples done and of all; `True` shows a bar.

    >>> from carom import Body, Scene, Sphere
    >>> spheres = Scene(body=[Body("one", Sphere(0.5), mass=1.0), Body("two", Sphere(0.5), mass=1.0)])
    >>> found = scatter(spheres, samples=2000, rows=True)
    >>> bool(abs(found.cross_section.mean - 3.14159) < 1e-5), found.energy_loss.mean < 1e-12, len(found.encounters)
    (True, True, 2000)
    """
    asked = some_whole("samples", samples), some_whole("seed", seed), some_whole("threads", threads)
    with shown_progress(progress) as told:
        document, table, _, said, raised = _carom.ask_scatter(read(scene), *asked, device, flag("rows", rows), told)
    if raised is not None and not isinstance(raised, KeyboardInterrupt):
        raise raised
    if said:
        _warn(said)
    return Scattering(document, None if table is None else Table(table))
