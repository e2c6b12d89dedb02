"""Gaps, first contacts and impacts of many pairs in one call: on all cores, without Python's lock, ended by Ctrl-C.

Pair i is row i of the first bodies, or planes, and row i of the second; what is given once holds for all. `progress` is called with
the number of pairs done and the number of all, some twenty times a second.
"""

from __future__ import annotations

from typing import Any, Callable, Iterator, Optional, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _carom
from ._arrays import Floats, agree, length, rows
from ._tables import Columns
from .bodies import Bodies
from .scene import Body, Plane

Progress = Callable[[int, int], object]
Second = Union[Bodies, Body]
First = Union[Bodies, Body, Plane]

APART, OVERLAPPING, UNDECIDED, MET = 0, 1, 2, 10

_NAMES = np.array(["apart", "overlapping", "undecided"] + [""] * (MET - 3) + list(_carom.TYPES), dtype=np.str_)


class Gaps(Columns):
    """The gaps of many pairs: `gap` (negative: overlap), `normal` from the first to the second, `on_first`, `on_second`,
    `iterations`, and in a periodic box `image`, the displacement of the second body that is nearest.

    >>> from carom import Bodies, Sphere
    >>> found = gap_many(Bodies(Sphere(1.0)), Bodies(Sphere(1.0), position=[[3.0, 0, 0], [4.0, 0, 0]]))
    >>> found
    <Gaps: 2 rows, gap, normal, on_first, on_second, iterations>
    >>> found.gap
    array([1., 2.])
    """

    gap: Floats
    normal: Floats
    on_first: Floats
    on_second: Floats
    image: Floats
    iterations: NDArray[np.uint32]


class Contacts(Columns):
    """The first contacts of many pairs; `strike` resolves their impacts. The columns: `time` (NaN where there is none), `time_error` (a bound), `gap`, `normal`, `point`,
    `approach`, `evaluations`, `status`, and in a periodic box `image`. Before `searched_until` no pair has a contact: it is the
    time of the contact, `until`, or where an undecided search was given up. The gap of a graze is least at its `time`, and may be
    zero, within rounding, from `first_zero` on (NaN for anything else).

    `status` is a code, `APART`, `OVERLAPPING`, `UNDECIDED`, or from `MET` on a contact; `type` spells it out, a contact as `carom
    classify` names it.

    >>> from carom import Bodies, Sphere
    >>> found = toi_many(Bodies(Sphere(1.0)), Bodies(Sphere(1.0), position=[3.0, 0, 0], velocity=[[-1.0, 0, 0], [1.0, 0, 0]]), until=2.0)
    >>> found.met, found.type.tolist()
    (array([ True, False]), ['normal', 'apart'])
    """

    time: Floats
    time_error: Floats
    gap: Floats
    normal: Floats
    point: Floats
    approach: Floats
    image: Floats
    searched_until: Floats
    first_zero: Floats
    status: NDArray[np.uint8]
    evaluations: NDArray[np.uint32]

    _pairs: Optional[tuple[First, Second, Floats]] = None

    def strike(self, restitution: ArrayLike = 1.0, *, progress: Optional[Progress] = None) -> Strikes:
        """The impact of every pair that meets, where and when it does: the bodies are flown to their contact, and `strike_many` resolves
        it as a smooth one. Pairs that do not meet keep their velocities; their `impulse` is 0, their `approach` and `separation` NaN.

        >>> from carom import Bodies, Plane, Sphere
        >>> falling = Bodies(Sphere(0.5), position=[0, 0, 1.0], velocity=[[0, 0, -1.0], [0, 0, 1.0]])
        >>> struck = toi_many(Plane("floor", normal=[0, 0, 1]), falling, until=9.0).strike(restitution=0.5)
        >>> struck.impulse, struck.second_velocity[:, 2]
        (array([1.5, 0. ]), array([0.5, 1. ]))
        """
        if self._pairs is None:
            raise ValueError("these contacts were changed or pickled, and have lost their bodies: `toi_many(…).strike(…)` strikes them")
        first, second, gravity = self._pairs
        met = self.met
        times = np.where(met, self.time, self.searched_until)
        one = first if isinstance(first, Plane) else _bodies(first)._flown(times, gravity)
        two = _bodies(second)._flown(times, gravity)
        images = self._columns.get("image")
        if images is not None:
            two = two._moved(np.where(np.isfinite(images), images, 0.0))
        restitutions = rows(restitution, 1, "restitution")
        count, one_arrays, two_arrays = _pairs(one, two, {"restitution": restitutions.size, "contacts": len(met)})
        return Strikes(
            _carom.strike_many(
                count, one_arrays, two_arrays, self.point, self.normal, restitutions, np.ascontiguousarray(met), progress
            )
        )

    @property
    def met(self) -> NDArray[np.bool_]:
        """Which pairs meet."""
        found: NDArray[np.bool_] = self.status >= MET
        return found

    @property
    def type(self) -> NDArray[np.str_]:
        """The status in words."""
        return _NAMES[self.status]

    def _flat(self) -> Iterator[tuple[str, Any]]:
        yield from super()._flat()
        yield "type", self.type
        yield "met", self.met


class Strikes(Columns):
    """The impacts of many pairs: `impulse`, `approach`, `separation`, `energy_change`, `effective_inverse_mass`, and the velocities
    after: `first_velocity`, `first_angular_velocity`, `second_velocity`, `second_angular_velocity`.

    >>> from carom import Bodies, Plane, Sphere
    >>> falling = Bodies(Sphere(0.5), position=[0, 0, 0.5], velocity=[0, 0, -1.0])
    >>> strike_many(Plane("floor", normal=[0, 0, 1]), falling, point=[0, 0, 0.0], normal=[0, 0, 1.0]).impulse
    array([2.])
    """

    impulse: Floats
    approach: Floats
    separation: Floats
    energy_change: Floats
    effective_inverse_mass: Floats
    first_velocity: Floats
    first_angular_velocity: Floats
    second_velocity: Floats
    second_angular_velocity: Floats


class _PlaneArrays:
    """What one or many planes are to the Rust side."""

    __slots__ = ("normal", "offset")

    def __init__(self, plane: Plane) -> None:
        self.normal = rows(plane.normal, 3, "normal")
        self.offset = rows(plane.offset, 1, "offset")

    def __len__(self) -> int:
        return agree({"normal": length(self.normal, 3), "offset": self.offset.size})


def _bodies(side: object) -> Bodies:
    if isinstance(side, Bodies):
        return side
    if isinstance(side, Body):
        return side._bodies()
    raise TypeError(f"expected Bodies or a Body, found {type(side).__name__}")


def _pairs(first: First, second: Second, lengths: dict[str, int]) -> tuple[int, Any, Any]:
    two = _bodies(second)
    if isinstance(first, Plane):
        planes = _PlaneArrays(first)
        return agree({"first": len(planes), "second": len(two), **lengths}), planes, two._arrays()
    one = _bodies(first)
    return agree({"first": len(one), "second": len(two), **lengths}), one._arrays(), two._arrays()


def _users(first: First, second: Second) -> Optional[tuple[Any, Any]]:
    """The shapes of users' own, if there are any."""
    users = None if isinstance(first, Plane) else _bodies(first)._user, _bodies(second)._user
    return None if users == (None, None) else users


def _weighed(*sides: Union[First, Second]) -> None:
    """A shape of a user's own has no moments of inertia unless they are given."""
    for side in sides:
        bodies = None if isinstance(side, Plane) else _bodies(side)
        if bodies is not None and bodies._user is not None and not bodies.inertia.size and not bodies.fixed.all():
            raise ValueError("a Convex moves only with moments of its own: give `inertia`, such as mass * shape.unit_inertia")


def _box(periodic: Optional[ArrayLike]) -> list[float]:
    if periodic is None:
        return [0.0, 0.0, 0.0]
    lengths = rows(periodic, 3, "periodic")
    if lengths.ndim != 1:
        raise ValueError("periodic: expected three lengths, 0 for an open direction")
    return [float(x) for x in lengths]


def gap_many(
    first: First,
    second: Second,
    *,
    at: Optional[ArrayLike] = None,
    gravity: ArrayLike = (0.0, 0.0, 0.0),
    periodic: Optional[ArrayLike] = None,
    progress: Optional[Progress] = None,
) -> Gaps:
    """The signed distance of many pairs, with normal and contact points: where they are given, or after free flight to the time
    `at`. With `at=0` the numbers are those of `carom gap`, to the bit.

    >>> import numpy as np
    >>> from carom import Bodies, Ellipsoid, Plane, Sphere
    >>> places = np.array([[3.0, 0.0, 0.0], [0.0, 1.5, 0.0]])
    >>> gap_many(Bodies(Sphere(1.0)), Bodies(Sphere(1.0), position=places)).gap
    array([ 1. , -0.5])
    >>> egg = Bodies(Ellipsoid([1.0, 1.0, 2.0]), position=[[0.0, 0.0, 5.0]])
    >>> gap_many(Plane("floor", normal=[0, 0, 1]), egg).gap
    array([3.])
    """
    pull = rows(gravity, 3, "gravity")
    lengths = {"gravity": length(pull, 3)}
    times = None
    if at is not None:
        times = rows(at, 1, "at")
        lengths["at"] = times.size
    count, one, two = _pairs(first, second, lengths)
    users = _users(first, second)
    if users is not None:
        if at is not None or periodic is not None:
            raise ValueError("a Convex is measured where it is given, in open space")
        return Gaps(_carom.user_gap(count, one, two, users, progress))
    return Gaps(_carom.gap_many(count, one, two, times, pull, _box(periodic), progress))


def toi_many(
    first: First,
    second: Second,
    *,
    until: ArrayLike,
    gravity: ArrayLike = (0.0, 0.0, 0.0),
    periodic: Optional[ArrayLike] = None,
    progress: Optional[Progress] = None,
) -> Contacts:
    """The first contact of many pairs in free flight, each with a bound on the error of its time; the numbers of `carom toi`.

    >>> from carom import Bodies, Sphere
    >>> one = Bodies(Sphere(1.0))
    >>> two = Bodies(Sphere(1.0), position=[4.0, 0.0, 0.0], velocity=[[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    >>> found = toi_many(one, two, until=10.0)
    >>> found.time
    array([ 2., nan])
    >>> found.type.tolist()
    ['normal', 'apart']
    """
    ends, pull = rows(until, 1, "until"), rows(gravity, 3, "gravity")
    lengths = {"until": ends.size, "gravity": length(pull, 3)}
    count, one, two = _pairs(first, second, lengths)
    users = _users(first, second)
    if users is not None:
        if periodic is not None:
            raise ValueError("a Convex is searched for in open space")
        _weighed(first, second)
        found = Contacts(_carom.user_toi(count, one, two, users, ends, pull, progress))
    else:
        found = Contacts(_carom.toi_many(count, one, two, ends, pull, _box(periodic), progress))
    found._pairs = first, second, pull
    return found


def fly_many(bodies: Union[Bodies, Body], times: ArrayLike, *, gravity: ArrayLike = (0.0, 0.0, 0.0)) -> Bodies:
    """Many bodies after free flight, each for a time of its own, in closed form: `Bodies.at`, also for a `Body`.

    >>> from carom import Bodies, Sphere
    >>> balls = Bodies(Sphere(0.1), velocity=[[1.0, 0, 0], [0, 2.0, 0]])
    >>> fly_many(balls, [2.0, 3.0]).position.tolist()
    [[2.0, 0.0, 0.0], [0.0, 6.0, 0.0]]
    """
    return _bodies(bodies).at(times, gravity=gravity)


def strike_many(
    first: First,
    second: Second,
    *,
    point: ArrayLike,
    normal: ArrayLike,
    restitution: ArrayLike = 1.0,
    progress: Optional[Progress] = None,
) -> Strikes:
    """The impact of many pairs at one smooth contact each, in closed form; `normal` points from the first to the second.

    Newton's, Poisson's and Stronge's laws agree here. Pairs that do not close get no impulse. The bodies must be where they touch:
    points that are not on both surfaces, with the surfaces' normal, are refused. After `toi_many`, its answer's `strike` flies the
    bodies there.

    >>> from carom import Bodies, Sphere
    >>> one, two = Bodies(Sphere(1.0)), Bodies(Sphere(1.0), position=[2.0, 0.0, 0.0], velocity=[-1.0, 0.0, 0.0])
    >>> struck = strike_many(one, two, point=[1.0, 0.0, 0.0], normal=[1.0, 0.0, 0.0], restitution=[1.0, 0.5])
    >>> struck.impulse
    array([1.  , 0.75])
    """
    points, normals = rows(point, 3, "point"), rows(normal, 3, "normal")
    restitutions = rows(restitution, 1, "restitution")
    lengths = {
        "point": length(points, 3),
        "normal": length(normals, 3),
        "restitution": restitutions.size,
    }
    count, one, two = _pairs(first, second, lengths)
    _weighed(first, second)
    return Strikes(_carom.strike_many(count, one, two, points, normals, restitutions, None, progress))
