"""Exact free flight: where a body is at any time when nothing touches it, in closed form (elliptic and theta functions)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
from numpy.typing import ArrayLike

from . import _carom
from ._arrays import Floats, numbers, rows
from ._options import flag
from ._tables import shown
from .bodies import Bodies
from .shapes import Shape


@dataclass(eq=False)
class States:
    """Where a body is and how it moves, in the world frame: vectors, or an array of them over time.

    >>> Flight(inertia=[1.0, 2.0, 3.0], velocity=[1.0, 0.0, 0.0]).at([0.0, 2.0]).position[:, 0]
    array([0., 2.])
    """

    position: Floats
    orientation: Floats
    velocity: Floats
    angular_velocity: Floats


class Flight:
    """The free flight of one body from its state at t = 0, under uniform gravity; no stepping, nothing accumulated.

    Lengths are in metres, times in seconds; orientations are quaternions `[w, x, y, z]`, vectors in the world frame. `inertia` are the
    principal moments, which no body has unless the largest is at most the sum of the others: with `any_inertia` Euler's equations are
    solved for others too.

    >>> import numpy as np
    >>> top = Flight(inertia=[1.0, 2.0, 3.0], angular_velocity=[0.01, 2.0, 0.01])
    >>> turned = top.at([0.0, 1e6])
    >>> spin = turned.angular_velocity
    >>> axes = [np.array(rotation(q)) for q in turned.orientation]
    >>> momentum = [a @ (np.array([1.0, 2.0, 3.0]) * (a.T @ w)) for a, w in zip(axes, spin)]
    >>> bool(np.allclose(momentum[0], momentum[1], rtol=0, atol=1e-14))
    True
    """

    def __init__(
        self,
        shape: Optional[Shape] = None,
        *,
        inertia: Optional[ArrayLike] = None,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        velocity: ArrayLike = (0.0, 0.0, 0.0),
        angular_velocity: ArrayLike = (0.0, 0.0, 0.0),
        gravity: ArrayLike = (0.0, 0.0, 0.0),
        any_inertia: bool = False,
    ) -> None:
        if shape is None and inertia is None:
            raise ValueError("a flight needs a shape, or the moments of inertia")
        from .shapes import Point

        body = Bodies(
            Point() if shape is None else shape,
            position=position,
            orientation=orientation,
            velocity=velocity,
            angular_velocity=angular_velocity,
            inertia=inertia,
            _any_inertia=flag("any_inertia", any_inertia),
        )
        if len(body) != 1:
            raise ValueError("a flight is that of one body")
        self._given = {
            "shape": shape,
            "inertia": inertia,
            "position": position,
            "orientation": orientation,
            "velocity": velocity,
            "angular_velocity": angular_velocity,
            "gravity": gravity,
            "any_inertia": any_inertia,
        }
        self._flight: Any = _carom.Flight(body._arrays(), rows(gravity, 3, "gravity"), flag("any_inertia", any_inertia))

    def at(self, t: ArrayLike) -> States:
        """The state at a time, or at an array of times of any shape."""
        times = numbers(t, "t")
        position, orientation, velocity, spin = self._flight.at(times)
        shape = times.shape
        return States(
            position.reshape((*shape, 3)),
            orientation.reshape((*shape, 4)),
            velocity.reshape((*shape, 3)),
            spin.reshape((*shape, 3)),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _flight, (self._given,)

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={shown(value)}" for name, value in self._given.items() if value is not None)
        return f"Flight({given})"

    @property
    def spin_bound(self) -> float:
        """The greatest |ω| over all times."""
        return float(self._flight.spin_bound)

    @property
    def angular_acceleration_bound(self) -> float:
        """The greatest |ω'| over all times."""
        return float(self._flight.angular_acceleration_bound)


def _flight(given: dict[str, Any]) -> Flight:
    return Flight(**given)


def rotation(orientation: ArrayLike) -> Floats:
    """The matrix from body axes to world axes of a quaternion `[w, x, y, z]`, or of an array of them.

    >>> rotation([0.0, 0.0, 0.0, 1.0]).diagonal()
    array([-1., -1.,  1.])
    """
    q = numbers(orientation, "orientation")
    if q.shape[-1:] != (4,):
        raise ValueError(f"orientation has shape {q.shape}, expected (4,) or (n, 4)")
    size = np.linalg.norm(q, axis=-1, keepdims=True)
    if not (np.isfinite(size) & (size > 0.0)).all():
        raise ValueError("orientation: expected finite quaternions other than zero")
    q = q / size
    w, x, y, z = np.moveaxis(q, -1, 0)
    matrix = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    return np.moveaxis(matrix, (0, 1), (-2, -1))
