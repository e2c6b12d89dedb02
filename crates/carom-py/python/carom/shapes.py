"""Shapes, as in a scene's `shape`, and what is known of them alone: support, surface, curvature, mass properties.

Everything is in the body's principal axes about its centre. Directions and points are arrays of shape `(3,)` or `(n, 3)`, or any
`(..., 3)`; the answers have the same leading shape.

>>> egg = Ellipsoid([1.0, 2.0, 3.0])
>>> egg.support([0.0, 0.0, 1.0])
array([0., 0., 3.])
>>> round(egg.volume, 12)
25.132741228718
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any, Callable, Iterable, NamedTuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _carom
from ._arrays import Floats, agree, length, numbers, rows

POINT, SPHERE, ELLIPSOID, SUPERELLIPSOID, BOX, CYLINDER, CAPSULE, CONE, DISC, POLYHEDRON = range(10)


class ShapeArrays:
    """What the shapes of one or many bodies are to the Rust side."""

    __slots__ = ("kind", "axes", "width", "exponent")

    def __init__(self, kind: ArrayLike, axes: Floats, width: int, exponent: Floats) -> None:
        self.kind: NDArray[np.uint8] = np.atleast_1d(np.asarray(kind, dtype=np.uint8))
        self.axes = axes
        self.width = width
        self.exponent = exponent

    def __len__(self) -> int:
        return agree(
            {
                "shapes": self.kind.size,
                "semi_axes": length(self.axes, self.width),
                "exponent": self.exponent.size,
            }
        )


_TWO = np.array([2.0])


class Shape:
    """A shape: `Point`, `Sphere`, `Ellipsoid`, `Superellipsoid`, `Box`, `Cylinder`, `Capsule`, `Cone`, `Disc` or
    `Polyhedron`.

    >>> isinstance(Sphere(1.0), Shape), Sphere(2.0).circumradius
    (True, 2.0)
    """

    def _arrays(self) -> ShapeArrays:
        raise NotImplementedError

    def _entry(self) -> dict[str, Any]:
        raise NotImplementedError

    def _sizes(self) -> dict[str, Any]:
        return _carom.shape_sizes(self._arrays())

    @property
    def volume(self) -> float:
        """The volume."""
        return float(self._sizes()["volume"])

    @property
    def unit_inertia(self) -> Floats:
        """The principal moments of inertia of the homogeneous body of unit mass.

        >>> Sphere(1.0).unit_inertia
        array([0.4, 0.4, 0.4])
        """
        found: Floats = self._sizes()["unit_inertia"]
        return found

    @property
    def circumradius(self) -> float:
        """The radius of the smallest ball about the centre that holds the body."""
        return float(self._sizes()["circumradius"])

    @property
    def inradius(self) -> float:
        """The radius of the largest ball about the centre inside the body."""
        return float(self._sizes()["inradius"])

    def _ask(self, function: Any, what: str, value: ArrayLike, shape: tuple[int, ...]) -> Floats:
        array = numbers(value, what)
        if array.shape[-1:] != (3,):
            raise ValueError(f"shape {array.shape}, expected (3,) or (n, 3)")
        found: Floats = function(self._arrays(), what, array)
        return found.reshape(array.shape[:-1] + shape)

    def support_height(self, n: ArrayLike) -> Floats:
        """The support function h(n) = max n·x over the body.

        >>> float(Sphere(2.0).support_height([0.0, 3.0, 4.0]))
        10.0
        """
        return self._ask(_carom.shape_scalars, "support_height", n, ())

    def support(self, n: ArrayLike) -> Floats:
        """The point of the body farthest along n, ∇h(n)."""
        return self._ask(_carom.shape_vectors, "support", n, (3,))

    def support_hessian(self, n: ArrayLike) -> Floats:
        """∇²h(n): on the tangent plane of a unit n its eigenvalues are the principal radii."""
        return self._ask(_carom.shape_matrices, "support_hessian", n, (3, 3))

    def surface(self, x: ArrayLike) -> Floats:
        """The surface point on the ray through x."""
        return self._ask(_carom.shape_vectors, "surface", x, (3,))

    def normal(self, x: ArrayLike) -> Floats:
        """The outward unit normal at the surface point on the ray through x."""
        return self._ask(_carom.shape_vectors, "normal", x, (3,))

    def curvature(self, x: ArrayLike) -> Floats:
        """The second fundamental form at the surface point on the ray through x.

        >>> Sphere(2.0).curvature([0.0, 0.0, 1.0]).diagonal()
        array([0.5, 0.5, 0. ])
        """
        return self._ask(_carom.shape_matrices, "curvature", x, (3, 3))

    def gauge(self, x: ArrayLike) -> Floats:
        """Below one inside, one on the surface, homogeneous of degree one."""
        return self._ask(_carom.shape_scalars, "gauge", x, ())

    def implicit(self, x: ArrayLike) -> Floats:
        """Σ|x_i/a_i|^p − 1: negative inside, zero on the surface."""
        return self._ask(_carom.shape_scalars, "implicit", x, ())


@dataclass(eq=False)
class Point(Shape):
    """No extent: a body that only explicit contacts and joints touch.

    >>> Point().volume
    0.0
    """

    def _arrays(self) -> ShapeArrays:
        return ShapeArrays(POINT, np.ones(1), 1, _TWO)

    def _entry(self) -> dict[str, Any]:
        return {"point": {}}


@dataclass(eq=False)
class Sphere(Shape):
    """A ball. For many bodies at once `radius` may be an array `(n,)`.

    >>> round(Sphere(0.5).volume, 12)
    0.523598775598
    """

    radius: ArrayLike

    def _arrays(self) -> ShapeArrays:
        return ShapeArrays(SPHERE, rows(self.radius, 1, "radius"), 1, _TWO)

    def _entry(self) -> dict[str, Any]:
        return {"sphere": {"radius": self.radius}}


@dataclass(eq=False)
class Ellipsoid(Shape):
    """(x/a)² + (y/b)² + (z/c)² ≤ 1. For many bodies at once `semi_axes` may be an array `(n, 3)`.

    >>> Ellipsoid([1.0, 2.0, 3.0]).support([0.0, 1.0, 0.0])
    array([0., 2., 0.])
    """

    semi_axes: ArrayLike

    def _arrays(self) -> ShapeArrays:
        return ShapeArrays(ELLIPSOID, rows(self.semi_axes, 3, "semi_axes"), 3, _TWO)

    def _entry(self) -> dict[str, Any]:
        return {"ellipsoid": {"semi_axes": self.semi_axes}}


@dataclass(eq=False)
class Superellipsoid(Shape):
    """|x/a|^p + |y/b|^p + |z/c|^p ≤ 1 with p ≥ 2. For many bodies at once both may be arrays.

    >>> round(float(Superellipsoid([1.0, 1.0, 1.0], 4.0).gauge([1.0, 1.0, 0.0])), 12)
    1.189207115003
    """

    semi_axes: ArrayLike
    exponent: ArrayLike

    def _arrays(self) -> ShapeArrays:
        axes = rows(self.semi_axes, 3, "semi_axes")
        return ShapeArrays(SUPERELLIPSOID, axes, 3, rows(self.exponent, 1, "exponent"))

    def _entry(self) -> dict[str, Any]:
        return {"superellipsoid": {"semi_axes": self.semi_axes, "exponent": self.exponent}}


def _turned(radius: ArrayLike, along: ArrayLike, what: str) -> Floats:
    """Radius, radius and a length along the axis, for one body or many."""
    wide, high = np.broadcast_arrays(rows(radius, 1, "radius").reshape(-1), rows(along, 1, what).reshape(-1))
    return np.ascontiguousarray(np.stack([wide, wide, high], axis=-1).reshape(-1))


@dataclass(eq=False)
class Box(Shape):
    """|x| ≤ a, |y| ≤ b, |z| ≤ c, grown by a ball of radius `rounding`. For many bodies at once both may be arrays.

    >>> Box([1.0, 2.0, 3.0]).volume
    48.0
    """

    half_extents: ArrayLike
    rounding: ArrayLike = 0.0

    def _arrays(self) -> ShapeArrays:
        return ShapeArrays(BOX, rows(self.half_extents, 3, "half_extents"), 3, rows(self.rounding, 1, "rounding"))

    def _entry(self) -> dict[str, Any]:
        return {"box": {"half_extents": self.half_extents, "rounding": self.rounding}}


@dataclass(eq=False)
class Cylinder(Shape):
    """A cylinder about z, grown by a ball of radius `rounding`. For many bodies at once all three may be arrays.

    >>> round(Cylinder(radius=1.0, half_length=2.0).volume, 12)
    12.566370614359
    """

    radius: ArrayLike
    half_length: ArrayLike
    rounding: ArrayLike = 0.0

    def _arrays(self) -> ShapeArrays:
        axes = _turned(self.radius, self.half_length, "half_length")
        return ShapeArrays(CYLINDER, axes, 3, rows(self.rounding, 1, "rounding"))

    def _entry(self) -> dict[str, Any]:
        return {"cylinder": {"radius": self.radius, "half_length": self.half_length, "rounding": self.rounding}}


@dataclass(eq=False)
class Capsule(Shape):
    """A cylinder about z with a half ball at each end; `half_length` is that of the straight part.

    >>> Capsule(radius=1.0, half_length=2.0).circumradius
    3.0
    """

    radius: ArrayLike
    half_length: ArrayLike

    def _arrays(self) -> ShapeArrays:
        return ShapeArrays(CAPSULE, _turned(self.radius, self.half_length, "half_length"), 3, _TWO)

    def _entry(self) -> dict[str, Any]:
        return {"capsule": {"radius": self.radius, "half_length": self.half_length}}


@dataclass(eq=False)
class Cone(Shape):
    """A cone about z with the tip up, about its centre of mass, grown by a ball of radius `rounding`.

    >>> round(Cone(radius=1.0, height=3.0).volume, 12)
    3.14159265359
    """

    radius: ArrayLike
    height: ArrayLike
    rounding: ArrayLike = 0.0

    def _arrays(self) -> ShapeArrays:
        axes = _turned(self.radius, self.height, "height")
        return ShapeArrays(CONE, axes, 3, rows(self.rounding, 1, "rounding"))

    def _entry(self) -> dict[str, Any]:
        return {"cone": {"radius": self.radius, "height": self.height, "rounding": self.rounding}}


@dataclass(eq=False)
class Disc(Shape):
    """A disc across z, grown by a ball of radius `rounding`; without it the disc has no thickness and no volume.

    >>> Disc(radius=1.0).volume
    0.0
    """

    radius: ArrayLike
    rounding: ArrayLike = 0.0

    def _arrays(self) -> ShapeArrays:
        return ShapeArrays(DISC, rows(self.radius, 1, "radius"), 1, rows(self.rounding, 1, "rounding"))

    def _entry(self) -> dict[str, Any]:
        return {"disc": {"radius": self.radius, "rounding": self.rounding}}


class Polyhedron(Shape):
    """The convex hull of points `(n, 3)`, grown by a ball of radius `rounding`.

    In a scene it stands as it is given, shifted to its centre of mass. By itself, like every shape, it is about its centre of mass in
    its principal axes: `centre` is where that is among the points, and `turn` the quaternion from these axes to those of the points. Equal
    polyhedra are kept once, as long as the program.

    >>> octahedron = Polyhedron([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1], [0.1, 0.1, 0.1]])
    >>> round(octahedron.volume, 15), len(octahedron.corners), len(octahedron.faces)
    (1.333333333333333, 6, 8)
    """

    def __init__(self, vertices: ArrayLike, rounding: float = 0.0) -> None:
        self.vertices: Floats = numbers(vertices, "vertices")
        if self.vertices.ndim != 2 or self.vertices.shape[1] != 3:
            raise ValueError(f"vertices have the shape {self.vertices.shape}, expected (n, 3)")
        self.rounding = float(rounding)
        made = _carom.make_polyhedron(self.vertices, self.rounding)
        self._number, centre, turn, corners, self.faces = made
        self.centre: Floats = np.array(centre)
        self.turn: Floats = np.array(turn)
        self.corners: Floats = np.array(corners)

    @classmethod
    def read(cls, path: Union[str, os.PathLike[str]], scale: float = 1.0, rounding: float = 0.0) -> Polyhedron:
        """That of a mesh, OBJ or STL, its coordinates multiplied by `scale`."""
        return cls(_carom.read_mesh(os.fspath(path)) * scale, rounding)

    def __repr__(self) -> str:
        return f"Polyhedron({len(self.corners)} corners, {len(self.faces)} faces, rounding={self.rounding!r})"

    def _arrays(self) -> ShapeArrays:
        return ShapeArrays(POLYHEDRON, np.array([self._number + 1.0]), 1, _TWO)

    def _entry(self) -> dict[str, Any]:
        return {"polyhedron": {"vertices": self.vertices, "rounding": self.rounding}}


class MassProperties(NamedTuple):
    """What a homogeneous body weighs, and how its mass is spread: the inertia tensor is that of unit mass about the centre.

    >>> ball = Convex(lambda n: n / np.linalg.norm(n), lambda n: np.eye(3), circumradius=1.0, inradius=1.0)
    >>> round(ball.mass_properties().volume, 9)
    4.188790205
    """

    volume: float
    centre: Floats
    unit_inertia: Floats
    error: float


class Convex(Shape):
    """A shape of your own: a smooth, strictly convex body about its centre of mass in its principal axes, by two functions of a
    direction n of any length.

    `support(n)` is the point farthest along n, ∇h(n), an array of three numbers; `support_hessian(n)` is ∇²h(n), three by three: on
    the tangent plane its eigenvalues are the radii of curvature over |n|. Both must be right to rounding, because the answers are as
    good as they are. `circumradius` and `inradius` are radii of balls about the centre that hold the body and lie inside it: for the
    first too large a number costs time, too small a number costs contacts.

    For `gap_many` and `toi_many`, one shape for all rows. Pairs are searched one by one and with Python's lock: about half a millisecond
    for a gap, two for a first contact with functions like those below, a hundred times that for a deep overlap. Scenes and runs do not
    take such shapes: they ask for the change of the curvature too, and from many threads.

    >>> import numpy as np
    >>> from carom import Bodies, gap_many
    >>> def support(n):  # an ellipsoid with a skin of 0.1
    ...     a = np.array([1.0, 4.0, 9.0])
    ...     return 0.1 * n / np.linalg.norm(n) + a * n / np.sqrt(n @ (a * n))
    >>> def support_hessian(n):
    ...     a, size = np.array([1.0, 4.0, 9.0]), np.linalg.norm(n)
    ...     h = np.sqrt(n @ (a * n))
    ...     skin = 0.1 * (np.eye(3) / size - np.outer(n, n) / size**3)
    ...     return skin + np.diag(a) / h - np.outer(a * n, a * n) / h**3
    >>> egg = Convex(support, support_hessian, circumradius=3.1, inradius=1.1)
    >>> round(float(gap_many(Bodies(egg), Bodies(egg, position=[0.0, 0.0, 10.0])).gap[0]), 12)
    3.8
    """

    def __init__(
        self,
        support: Callable[[Floats], ArrayLike],
        support_hessian: Callable[[Floats], ArrayLike],
        *,
        circumradius: float,
        inradius: float,
    ) -> None:
        near, far = float(inradius), float(circumradius)
        if not (0.0 < near <= far < math.inf):
            raise ValueError(f"inradius {near} and circumradius {far}: expected 0 < inradius ≤ circumradius")
        self._user = _User(support, support_hessian, far, near)

    def __repr__(self) -> str:
        return f"Convex(circumradius={self.circumradius!r}, inradius={self.inradius!r})"

    def support(self, n: ArrayLike) -> Floats:
        """The point of the body farthest along n."""
        return self._each(self._user.support, n)

    def support_hessian(self, n: ArrayLike) -> Floats:
        """∇²h(n)."""
        return self._each(self._user.support_hessian, n)

    def support_height(self, n: ArrayLike) -> Floats:
        """The support function h(n) = n·s(n)."""
        array = np.asarray(n, dtype=np.float64)
        return np.asarray(np.sum(array * self.support(array), axis=-1))

    def _each(self, function: Callable[[Floats], Floats], n: ArrayLike) -> Floats:
        array = np.ascontiguousarray(n, dtype=np.float64)
        answers = [function(row) for row in array.reshape(-1, 3)]
        return np.array(answers).reshape(array.shape[:-1] + np.shape(answers[0]))

    @property
    def circumradius(self) -> float:
        """As given."""
        return self._user.circumradius

    @property
    def inradius(self) -> float:
        """As given."""
        return self._user.inradius

    def mass_properties(self, accuracy: float = 1e-10) -> MassProperties:
        """Volume, centre of mass and inertia by quadrature, doubling the points until two results agree to the accuracy; thousands of
        rays, each some calls of your functions. The body may be given about any point inside, in any axes: this is how to find
        those that `Convex` is to be given in."""
        volume, centre, tensor, error = _carom.user_mass(self._user, accuracy)
        return MassProperties(volume, np.array(centre), tensor, error)

    @property
    def volume(self) -> float:
        """The volume, by quadrature."""
        return self.mass_properties().volume

    @property
    def unit_inertia(self) -> Floats:
        """The diagonal of the inertia tensor of unit mass, by quadrature: the principal moments, if the axes are principal."""
        return np.diagonal(self.mass_properties().unit_inertia).copy()

    def _arrays(self) -> ShapeArrays:
        raise TypeError("a Convex is for gap_many, toi_many and mass_properties alone")

    def _entry(self) -> dict[str, Any]:
        raise TypeError("a scene takes no Convex: its shapes are those of carom.scene")


class _User:
    """A user's shape for the Rust side: functions that return arrays."""

    __slots__ = ("_support", "_hessian", "circumradius", "inradius")

    def __init__(
        self,
        support: Callable[[Floats], ArrayLike],
        hessian: Callable[[Floats], ArrayLike],
        circumradius: float,
        inradius: float,
    ) -> None:
        self._support, self._hessian = support, hessian
        self.circumradius, self.inradius = circumradius, inradius

    def support(self, n: Floats) -> Floats:
        return np.asarray(self._support(n), dtype=np.float64)

    def support_hessian(self, n: Floats) -> Floats:
        return np.asarray(self._hessian(n), dtype=np.float64)


AnyShapes = Union[Shape, Iterable[Shape]]


def shape_arrays(shapes: AnyShapes) -> ShapeArrays:
    """The arrays of one shape, or of a list of shapes, of one kind or mixed."""
    if isinstance(shapes, Shape):
        return shapes._arrays()
    each = [shape._arrays() for shape in shapes]
    kinds = np.concatenate([one.kind for one in each]) if each else np.zeros(0, np.uint8)
    axes = np.empty((len(each), 3))
    exponents = np.empty(len(each))
    for i, one in enumerate(each):
        if len(one) != 1:
            raise ValueError("a list of shapes holds one body each")
        axes[i] = one.axes if one.width == 1 else one.axes.reshape(3)
        exponents[i] = one.exponent[0]
    return ShapeArrays(kinds, axes, 3, exponents)
