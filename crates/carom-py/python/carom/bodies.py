"""Many bodies as arrays, for the calls that take a million pairs at once."""

from __future__ import annotations

from typing import Optional

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
        return f"Bodies({self._count})"
