"""Any engine beside the exact run: how far it is off, and the step that reaches a wanted error."""

from __future__ import annotations

import time
from typing import Any, Callable, Literal, Mapping, NamedTuple, Optional, Sequence, TypeVar

import numpy as np
from numpy.typing import NDArray

from ._arrays import Floats
from ._tables import Columns
from .flight import rotation
from .runs import Recording, run
from .scene import AnyScene

Quantity = Literal["time_error", "position_error", "velocity_error", "energy_error"]


class Motion(NamedTuple):
    """The state of a body: of its centre of mass, in the world frame; the orientation is a quaternion `[w, x, y, z]`.

    >>> still = Motion(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3), np.zeros(3))
    >>> still._replace(velocity=np.array([1.0, 0.0, 0.0])).velocity
    array([1., 0., 0.])
    """

    position: Floats
    orientation: Floats
    velocity: Floats
    angular_velocity: Floats


Engine = TypeVar("Engine")
Begin = Callable[[Mapping[str, Motion], float], Engine]
Advance = Callable[[Engine], Mapping[str, Motion]]


class Judgement(Columns):
    """How far an engine is off, a row for every setting and step: `time_error` of the first impact, in seconds (NaN where none was
    seen), `position_error` and `velocity_error`, the greatest of any body at the end, in metres and metres a second (the angular velocity
    times the body's size is among them), `energy_error`, relative to the greatest kinetic energy, and `wall_s`, how long it took.

    >>> import carom
    >>> fall = carom.Scene(world=carom.World(gravity=[0, 0, -2]), body=[carom.Body("ball", carom.Sphere(0.5), mass=1.0)])
    >>> def advance(engine):
    ...     step, (x, q, v, w) = engine
    ...     engine[1] = carom.Motion(x + step * v, q, v + step * np.array([0, 0, -2.0]), w)
    ...     return {"ball": engine[1]}
    >>> judged = judge_engine(fall, lambda states, step: [step, states["ball"]], advance, until=1.0, steps=[0.25, 0.125], setting="Euler")
    >>> print(judged.table())
    setting       step       time   position   velocity     energy
    Euler     2.50e-01          –    2.5e-01    0.0e+00    2.5e-01
    Euler     1.25e-01          –    1.2e-01    0.0e+00    1.2e-01
    """

    setting: NDArray[np.str_]
    step: Floats
    time_error: Floats
    position_error: Floats
    velocity_error: Floats
    energy_error: Floats
    wall_s: Floats

    exact: Recording
    """The exact run."""
    impact: float = float("nan")
    """The exact time of its first impact."""

    def _like(self, columns: dict[str, Any]) -> Judgement:
        other = Judgement(columns)
        other.exact, other.impact = self.exact, self.impact
        return other

    def joined(self, other: Judgement) -> Judgement:
        """The rows of both."""
        return self._like({name: np.concatenate([self[name], other[name]]) for name in self._columns})

    def step_for(self, error: float, of: Quantity = "velocity_error", setting: Optional[str] = None) -> Optional[float]:
        """The largest step from which on, down to the smallest tried, the error stays at most this; nothing where there is none."""
        chosen = np.ones(len(self.step), dtype=np.bool_) if setting is None else self.setting == setting
        order = np.argsort(self.step[chosen])
        steps, errors = self.step[chosen][order], np.abs(self[of][chosen][order])
        good = errors <= error
        count = len(good) if good.all() else int(np.argmin(good))
        return float(steps[count - 1]) if count else None

    def table(self) -> str:
        """The errors as a text, a line for every setting and step, to be printed."""
        names = {"time_error": "time", "position_error": "position", "velocity_error": "velocity", "energy_error": "energy"}
        wide = max([len("setting"), *map(len, self.setting.tolist())])
        lines = [f"{'setting':<{wide}}  {'step':>9}" + "".join(f"  {name:>9}" for name in names.values())]
        for k in range(len(self)):
            errors = (float(self[name][k]) for name in names)
            shown = "".join("          –" if np.isnan(error) else f"  {error:>9.1e}" for error in errors)
            lines.append(f"{self.setting[k]:<{wide}}  {self.step[k]:>9.2e}{shown}")
        return "\n".join(lines)

    def plot(self, of: Sequence[Quantity] = ("time_error", "velocity_error", "energy_error")) -> Any:
        """Errors against the step, a panel each and a line for every setting; a matplotlib figure."""
        from .plots import _matplotlib

        figure, axes = _matplotlib().subplots(1, len(of), figsize=(4.0 * len(of), 3.2), squeeze=False, layout="constrained")
        for panel, name in zip(axes[0], of):
            for setting in dict.fromkeys(self.setting.tolist()):
                chosen = self.setting == setting
                panel.loglog(self.step[chosen], np.abs(self[name][chosen]), "o-", label=setting or None)
            panel.set_xlabel("step [s]")
            panel.set_title(name.replace("_", " "))
            panel.grid(True, alpha=0.3)
        if len(set(self.setting.tolist())) > 1:
            axes[0][0].legend()
        return figure


def _states(found: Any) -> dict[str, Motion]:
    return {name: Motion(*(np.asarray(state[part], dtype=np.float64) for part in Motion._fields)) for name, state in found.items()}


class _Exact:
    """The exact run, and what it is at the times of an engine's steps."""

    def __init__(self, scene: AnyScene, until: float, step: float) -> None:
        self.run = found = run(scene, until=until, sample=step)
        self.moving = [body for body in found.bodies if not body.fixed]
        self.final = _states(found.to_dict()["final"])
        impacts = found.events.time[found.events.kind == "impact"]
        self.impact = float(impacts[0]) if len(impacts) else float("nan")
        self.samples = {body.name: found.trajectory(body.name) for body in self.moving}
        self.before, self.after = self._sides()

    def _sides(self) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """The velocities on both sides of the first impact."""
        table = self.run.samples
        sides: list[dict[str, Floats]] = []
        events = self.run.events
        impacts = np.flatnonzero(events.kind == "impact")
        for moment in ("before", "after"):
            side: dict[str, Floats] = {}
            for body in self.moving if len(impacts) else []:
                chosen = (table["body"] == body.name) & (table["moment"] == moment) & (table["event"] == events.number[impacts[0]])
                if chosen.any():
                    side[body.name] = np.array([table[name][chosen][0] for name in ("vx", "vy", "vz", "wx", "wy", "wz")])
            sides.append(side)
        return sides[0], sides[1]

    def departure(self, k: int, when: float, states: Mapping[str, Motion]) -> float:
        """Which part of the first impact the engine's velocities show after the step `k`: 0 before it, 1 after it."""
        part = whole = 0.0
        for body in self.moving:
            if body.name not in self.after:
                continue
            size = max(body.semi_axes)
            scale = np.array([1.0, 1.0, 1.0, size, size, size])
            jump = scale * (self.after[body.name] - self.before[body.name])
            states_then = self.samples[body.name][1]
            if when < self.impact and k < len(states_then.velocity):
                calm = np.concatenate([states_then.velocity[k], states_then.angular_velocity[k]])
            else:
                calm = self.before[body.name]
            state = states[body.name]
            part += float(jump @ (scale * (np.concatenate([state.velocity, state.angular_velocity]) - calm)))
            whole += float(jump @ jump)
        return part / whole if whole > 0.0 else 0.0

    def energy(self, states: Mapping[str, Motion]) -> tuple[float, float]:
        """The kinetic energy, and the total with gravity's."""
        kinetic = potential = 0.0
        for body in self.moving:
            state = states[body.name]
            spin = rotation(state.orientation).T @ state.angular_velocity
            kinetic += 0.5 * body.mass * float(state.velocity @ state.velocity)
            kinetic += 0.5 * float(spin @ (np.array(body.inertia) * spin))
            potential -= body.mass * float(self.run.gravity @ state.position)
        return kinetic, kinetic + potential

    def errors(self, states: Mapping[str, Motion], start: Mapping[str, Motion]) -> tuple[float, float, float]:
        """Of positions, velocities and energy at the end."""
        place = speed = 0.0
        for body in self.moving:
            state, exact, size = states[body.name], self.final[body.name], max(body.semi_axes)
            place = max(place, float(np.linalg.norm(state.position - exact.position)))
            speed = max(speed, float(np.linalg.norm(state.velocity - exact.velocity)))
            speed = max(speed, size * float(np.linalg.norm(state.angular_velocity - exact.angular_velocity)))
        (moving, total), (moved, _) = self.energy(self.final), self.energy(start)
        scale = max(moving, moved)
        energy = self.energy(states)[1] - total
        return place, speed, energy / scale if scale > 0.0 else energy


def judge_engine(
    scene: AnyScene,
    begin: Begin[Engine],
    advance: Advance[Engine],
    *,
    until: float,
    steps: Sequence[float],
    setting: str = "",
) -> Judgement:
    """Judges any engine by two functions of yours: `begin(states, step)` makes an engine that starts from these states, by body; and
    `advance(engine)` makes one step and returns the states then. A state is a `Motion`.

    The time of the first impact is the one at which half of the exact jump of the velocities is seen, so that it needs no word of the
    engine's about contacts; it is interpolated within the step.

    >>> import carom
    >>> ball = carom.Body("ball", carom.Sphere(0.5), mass=1.0, position=[0, 0, 1.0], velocity=[0, 0, -1.0])
    >>> scene = carom.Scene(body=[ball], plane=[carom.Plane("floor", normal=[0, 0, 1])])
    >>> def begin(states, step):
    ...     return [step, states["ball"]]
    >>> def advance(engine):
    ...     step, (x, q, v, w) = engine
    ...     v = -v if x[2] < 0.5 and v[2] < 0 else v
    ...     engine[1] = Motion(x + step * v, q, v, w)
    ...     return {"ball": engine[1]}
    >>> judged = judge_engine(scene, begin, advance, until=1.0, steps=[0.02, 0.01])
    >>> bool((judged.velocity_error == 0).all()), judged.step_for(0.05, of="time_error")
    (True, 0.02)
    """
    rows: dict[str, list[float]] = {name: [] for name in Judgement.__annotations__ if name not in ("setting", "exact", "impact")}
    exact: Optional[_Exact] = None
    for step in steps:
        if not (np.isfinite(step) and 0.0 < step <= until):
            raise ValueError(f"steps: {step!r} is no step, expected lengths of time greater than 0 and at most {until!r}")
        exact = _Exact(scene, until, float(step))
        start: dict[str, Motion] = {name: Motion(*(each[0] for each in _columns(states))) for name, (_, states) in exact.samples.items()}
        clock = time.perf_counter()
        engine = begin(start, float(step))
        seen, last = float("nan"), 0.0
        states: Mapping[str, Motion] = start
        count = max(1, round(until / float(step)))
        for k in range(1, count + 1):
            states = _moved(advance(engine), start)
            if np.isnan(seen) and not np.isnan(exact.impact):
                now = exact.departure(k, k * float(step), states)
                if now >= 0.5:
                    share = (0.5 - last) / (now - last) if now > last else 1.0
                    seen = (k - 1 + min(1.0, max(0.0, share))) * float(step)
                last = now
        wall = time.perf_counter() - clock
        place, speed, energy = exact.errors(states, start)
        for name, value in [
            ("step", float(step)),
            ("time_error", seen - exact.impact),
            ("position_error", place),
            ("velocity_error", speed),
            ("energy_error", energy),
            ("wall_s", wall),
        ]:
            rows[name].append(value)
    if exact is None:
        raise ValueError("steps: expected at least one")
    columns: dict[str, Any] = {"setting": np.array([setting] * len(rows["step"]), dtype=np.str_)}
    judged = Judgement({**columns, **{name: np.array(values) for name, values in rows.items()}})
    judged.exact, judged.impact = exact.run, exact.impact
    return judged


def _moved(states: Mapping[str, Motion], start: Mapping[str, Motion]) -> dict[str, Motion]:
    """What an engine returns as arrays, whatever it is made of."""
    missing = [name for name in start if name not in states]
    if missing:
        raise ValueError(f"`advance` returned no state of {', '.join(missing)}; expected one of every body that moves")
    found: dict[str, Motion] = {}
    for name in start:
        parts = [np.asarray(part, dtype=np.float64) for part in states[name]]
        if [part.shape for part in parts] != [(3,), (4,), (3,), (3,)]:
            shapes = ", ".join(str(part.shape) for part in parts)
            raise ValueError(f"`advance` returned arrays of shapes {shapes} for {name}; expected a Motion: (3,), (4,), (3,), (3,)")
        found[name] = Motion(*parts)
    return found


def _columns(states: Any) -> tuple[Floats, Floats, Floats, Floats]:
    return states.position, states.orientation, states.velocity, states.angular_velocity
