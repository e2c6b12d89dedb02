"""Many bodies as arrays, for the calls that take a million pairs at once."""

from __future__ import annotations

from typing import Optional

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _carom
from ._arrays import Floats, agree, length, rows
from .shapes import AnyShapes, Convex, Point, ShapeArrays, shape_arrays

_NONE = np.zeros(0)


class BodyArrays:
    """What one or many bodies are to the Rust side."""

    __slots__ = (
        "shapes",
        "position",
        "orientation",
        "velocity",
        "angular_velocity",
        "mass",
        "inertia",
        "fixed",
    )

    shapes: ShapeArrays
    position: Floats
    orientation: Floats
    velocity: Floats
    angular_velocity: Floats
    mass: Floats
    inertia: Floats
    fixed: NDArray[np.bool_]


def _check(arrays: BodyArrays, any_inertia: bool) -> None:
    """Refuses what no body can have, where it is given rather than where it is used."""
    faults = [
        ("mass", arrays.mass, ~((arrays.mass > 0.0) & np.isfinite(arrays.mass)), "a finite number greater than 0"),
        ("inertia", arrays.inertia, ~((arrays.inertia > 0.0) & np.isfinite(arrays.inertia)), "finite numbers greater than 0"),
        ("orientation", arrays.orientation, ~np.isfinite(arrays.orientation), "finite numbers"),
        ("position", arrays.position, ~np.isfinite(arrays.position), "finite numbers"),
        ("velocity", arrays.velocity, ~np.isfinite(arrays.velocity), "finite numbers"),
        ("angular_velocity", arrays.angular_velocity, ~np.isfinite(arrays.angular_velocity), "finite numbers"),
    ]
    for name, values, wrong, expected in faults:
        if wrong.any():
            where = tuple(int(i) for i in np.argwhere(wrong)[0])
            place = "".join(f"[{i}]" for i in where) if values.size > 1 else ""
            raise ValueError(f"{name}{place} is {float(values[where])!r}, expected {expected}")
    zero = (arrays.orientation == 0.0).all(axis=-1)
    if zero.any():
        place = f"[{int(np.argmax(zero))}]" if zero.ndim else ""
        raise ValueError(f"orientation{place} is zero, expected quaternions [w, x, y, z] other than zero")
    if any_inertia:
        return
    moments = np.sort(arrays.inertia.reshape(-1, 3), axis=1) if arrays.inertia.size else np.zeros((0, 3))
    broken = moments[:, 2] > (moments[:, 0] + moments[:, 1]) * (1.0 + 1e-9)
    if broken.any():
        row = moments[int(np.argmax(broken))]
        least, middle, most = (float(moment) for moment in row)
        raise ValueError(f"inertia breaks the triangle inequality: {most!r} > {least!r} + {middle!r}; no body has such moments")


class Bodies:
    """Many bodies and their states: every argument is one value for all bodies, or an array with one row per body.

    Arrays of float64 in C order are used where they are; others are converted once, here. Orientations are quaternions
    `[w, x, y, z]` and are normalised; vectors are in the world frame, in metres, seconds and kilograms. `inertia` are the principal
    moments, `(3,)` or `(n, 3)`; without them bodies are homogeneous, and a `Convex` can be measured but not moved.

    >>> import numpy as np
    >>> from carom import Sphere
    >>> len(Bodies(Sphere(1.0), position=np.zeros((5, 3))))
    5
    """

    def __init__(
        self,
        shape: AnyShapes,
        *,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        velocity: ArrayLike = (0.0, 0.0, 0.0),
        angular_velocity: ArrayLike = (0.0, 0.0, 0.0),
        mass: ArrayLike = 1.0,
        inertia: Optional[ArrayLike] = None,
        fixed: ArrayLike = False,
        _any_inertia: bool = False,
    ) -> None:
        arrays = BodyArrays()
        self._user = shape._user if isinstance(shape, Convex) else None
        arrays.shapes = shape_arrays(Point() if isinstance(shape, Convex) else shape)
        arrays.position = rows(position, 3, "position")
        arrays.orientation = rows(orientation, 4, "orientation")
        arrays.velocity = rows(velocity, 3, "velocity")
        arrays.angular_velocity = rows(angular_velocity, 3, "angular_velocity")
        arrays.mass = rows(mass, 1, "mass")
        arrays.inertia = _NONE if inertia is None else rows(inertia, 3, "inertia")
        if arrays.inertia.shape == (3, 3) and not (arrays.inertia > 0.0).all():
            raise ValueError("inertia: expected principal moments, one row of three a body; this looks like a tensor")
        arrays.fixed = np.atleast_1d(np.ascontiguousarray(fixed, dtype=np.bool_))
        self._body_arrays = arrays
        lengths = {
            "shape": len(arrays.shapes),
            "position": length(arrays.position, 3),
            "orientation": length(arrays.orientation, 4),
            "velocity": length(arrays.velocity, 3),
            "angular_velocity": length(arrays.angular_velocity, 3),
            "mass": arrays.mass.size,
            "fixed": arrays.fixed.size,
        }
        if inertia is not None:
            lengths["inertia"] = length(arrays.inertia, 3)
        self._count = agree(lengths)
        _check(arrays, _any_inertia)
        self._given = shape

    def at(self, times: ArrayLike, *, gravity: ArrayLike = (0.0, 0.0, 0.0)) -> Bodies:
        """The same bodies after free flight: for one time, or each for its own. Fixed bodies stay.

        >>> from carom import Sphere
        >>> Bodies(Sphere(0.1), velocity=[0, 0, 3.0]).at([0.0, 1.0], gravity=[0, 0, -2.0]).velocity[:, 2]
        array([3., 1.])
        """
        return self._flown(rows(times, 1, "times"), rows(gravity, 3, "gravity"))

    def _flown(self, times: Floats, gravity: Floats) -> Bodies:
        arrays = self._body_arrays
        if self._user is not None and not arrays.inertia.size and not arrays.fixed.all():
            raise ValueError("a Convex moves only with moments of its own: give `inertia`, such as mass * shape.unit_inertia")
        count = agree({"bodies": self._count, "times": times.size, "gravity": length(gravity, 3)})
        position, orientation, velocity, spin = _carom.fly_many(count, arrays, times, gravity)
        return self._with(count, position=position, orientation=orientation, velocity=velocity, angular_velocity=spin)

    def _moved(self, by: Floats) -> Bodies:
        return self._with(agree({"bodies": self._count, "images": len(by)}), position=self.position + by)

    def _with(self, count: int, **changed: Floats) -> Bodies:
        """The same bodies in other states."""
        arrays, old = BodyArrays(), self._body_arrays
        for name in BodyArrays.__slots__:
            setattr(arrays, name, changed.get(name, getattr(old, name)))
        other = object.__new__(Bodies)
        other._user, other._given, other._body_arrays, other._count = self._user, self._given, arrays, count
        return other

    def _arrays(self) -> BodyArrays:
        return self._body_arrays

    def __len__(self) -> int:
        return self._count

    @property
    def position(self) -> Floats:
        """As given: of all, or one row per body."""
        return self._body_arrays.position

    @property
    def orientation(self) -> Floats:
        """As given."""
        return self._body_arrays.orientation

    @property
    def velocity(self) -> Floats:
        """As given."""
        return self._body_arrays.velocity

    @property
    def angular_velocity(self) -> Floats:
        """As given."""
        return self._body_arrays.angular_velocity

    @property
    def mass(self) -> Floats:
        """As given."""
        return self._body_arrays.mass

    @property
    def inertia(self) -> Floats:
        """As given; empty for homogeneous bodies."""
        return self._body_arrays.inertia

    @property
    def fixed(self) -> NDArray[np.bool_]:
        """As given."""
        return self._body_arrays.fixed

    @property
    def shapes(self) -> ShapeArrays:
        """The shapes as arrays."""
        return self._body_arrays.shapes

    def __repr__(self) -> str:
        shape = type(self._given).__name__ if not isinstance(self._given, (list, tuple)) else f"{len(self._given)} shapes"
        return f"Bodies({self._count} × {shape})"
