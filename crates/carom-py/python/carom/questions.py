"""The questions that the program answers, with its options as keywords. A scene is a `Scene`, a dictionary, text, or a path."""

from __future__ import annotations

import json
import re
import warnings
from typing import Any, Iterator, Literal, Mapping, Optional, Sequence, TypeVar, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _carom
from ._arrays import Floats, is_array, numbers
from ._options import flag, number, some_number, some_order, some_whole, some_word, whole, word
from ._tables import Columns
from .answers import (
    Answer,
    Classification,
    Comparison,
    FirstContacts,
    PairGaps,
    Paper,
    Paradox,
    Resolved,
    Solution,
)
from .errors import AuditError, PhysicsError
from .many import Progress
from .scene import AnyScene, read
from .shapes import Ellipsoid, Shape, Sphere, Superellipsoid

Law = Literal["newton_lcp", "newton", "poisson", "sequential", "reflection", "decoupled"]
Termination = Literal["stronge", "poisson", "newton"]
Kind = Literal["2b_star", "2b", "marginal"]
Order = Union[Literal["given", "reversed", "fastest"], Sequence[int]]
A = TypeVar("A", bound=Answer)


class SceneWarning(UserWarning):
    """Something in a scene that is allowed but worth a word, such as a quaternion far from unit length.

    >>> import carom
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     _ = carom.gap({"carom": 1, "body": [{"name": "ball", "shape": {"sphere": {"radius": 1}}, "mass": 1, "orientation": [2, 0, 0, 0]}]})
    >>> said[0].category.__name__
    'SceneWarning'
    """


class _Resolution:
    """How an impact is resolved, for the Rust side; nothing where nothing is asked for."""

    __slots__ = ("law", "termination", "order", "tolerance", "max_steps", "project", "strict")

    law: Optional[str]
    termination: Optional[str]
    order: Union[str, list[int], None]
    tolerance: Optional[float]
    max_steps: Optional[int]
    project: bool
    strict: bool


def _resolution(
    law: Any, termination: Any, order: Any, tolerance: Any, max_steps: Any, project: Any, strict: Any
) -> Optional[_Resolution]:
    if law is termination is order is tolerance is max_steps is None and project is strict is False:
        return None
    resolution = _Resolution()
    resolution.law = some_word("law", law)
    resolution.termination = some_word("termination", termination)
    resolution.order = some_order("order", order)
    resolution.tolerance = some_number("tolerance", tolerance)
    resolution.max_steps = some_whole("max_steps", max_steps)
    resolution.project = flag("project", project)
    resolution.strict = flag("strict", strict)
    return resolution


# What was made in Python has no lines that a user has seen.
_UNSEEN = re.compile(r"^<(?:Scene|dict)>:\d+:\d+: ")


def _warn(said: list[str]) -> None:
    """Warns at the line that called the function that calls this."""
    for each in said:
        warnings.warn(_UNSEEN.sub("", each), SceneWarning, stacklevel=3)


def _judged(answer: A, verdict: str, strict: bool) -> A:
    """The answer; with `strict`, a failed one is raised as an error."""
    if strict and verdict == "audit":
        raise AuditError("the result does not pass its audit", answer)
    if strict and verdict:
        raise PhysicsError("the physics has no answer under this law: " + _why(answer), answer)
    return answer


def _why(answer: Answer) -> str:
    said = answer.to_dict()
    if said.get("consistent") is False:
        return "its equations have no solution"
    if said.get("admissible") is False:
        return "what they give is not admissible"
    return "see the answer's notes"


def solve(
    scene: AnyScene,
    *,
    law: Optional[Law] = None,
    termination: Optional[Termination] = None,
    order: Optional[Order] = None,
    tolerance: Optional[float] = None,
    max_steps: Optional[int] = None,
    project: bool = False,
    touching: float = _carom.TOUCHING,
    screws: bool = False,
    strict: bool = False,
) -> Solution:
    """Resolves the impact at the scene's instant.

    - `law`: the impact law, instead of the scene's: `newton_lcp`, `newton`, `poisson`, `sequential`, `reflection`, `decoupled`.
    - `termination`: how a contact with Coulomb friction ends: `stronge`, `poisson`, `newton`.
    - `order`: the order in which `sequential` takes contacts: `given`, `reversed`, `fastest`, or their numbers.
    - `tolerance`: of rank, consistency and admissibility, relative to the data; from 1e-14 to 0.01.
    - `max_steps`: the most steps of the law; the result says if they ran out.
    - `project`: takes the nearest velocity that the joints allow, instead of refusing one that violates them.
    - `touching`: how close counts as touching where contacts are detected, relative to the sizes of the bodies.
    - `screws`: shows the contacts as screws too: inertances, wrenches, Plücker coordinates.
    - `strict`: a result that is inconsistent or not admissible raises `PhysicsError`; without, the result says so itself.

    In SI units, as the scene is: impulses in N s, velocities in m/s and rad/s, energies in J.

    >>> from carom import Body, Plane, Scene, Sphere
    >>> scene = Scene(
    ...     body=[Body("ball", Sphere(1.0), mass=2.0, position=[0, 0, 1], velocity=[0, 0, -3])],
    ...     plane=[Plane("floor", normal=[0, 0, 1])],
    ... )
    >>> answer = solve(scene)
    >>> answer.bodies.ball.velocity
    array([0., 0., 3.])
    >>> round(answer.contacts[0].impulse, 12)
    12.0
    >>> answer.velocity_unique
    True
    """
    options = _resolution(law, termination, order, tolerance, max_steps, project, strict)
    text, verdict, said = _carom.ask_solve(
        read(scene), options, number("touching", touching), flag("screws", screws)
    )
    if said:
        _warn(said)
    return _judged(Solution(text), verdict, strict)


def compare(
    scene: AnyScene,
    *,
    termination: Optional[Termination] = None,
    order: Optional[Order] = None,
    tolerance: Optional[float] = None,
    max_steps: Optional[int] = None,
    project: bool = False,
    touching: float = _carom.TOUCHING,
    strict: bool = False,
) -> Comparison:
    """Resolves the same impact under every law; the options are those of `solve`.

    >>> from carom import Body, Plane, Scene, Sphere, Surface
    >>> corner = Scene(
    ...     body=[Body("ball", Sphere(1.0), mass=1.0, position=[1, 0, 1], velocity=[-1, 0, -2])],
    ...     plane=[Plane("wall", normal=[1, 0, 0]), Plane("floor", normal=[0, 0, 1])],
    ...     surface=Surface(restitution=0.5),
    ... )
    >>> compare(corner).laws.poisson.bodies.ball[0].round(12).tolist()
    [0.5, 0.0, 1.0]
    """
    options = _resolution(None, termination, order, tolerance, max_steps, project, strict)
    text, verdict, said = _carom.ask_compare(read(scene), options, number("touching", touching))
    if said:
        _warn(said)
    return _judged(Comparison(text), verdict, strict)


def classify(
    scene: AnyScene,
    *,
    touching: float = _carom.TOUCHING,
    tolerance: float = _carom.RATES,
    picture: bool = False,
    span: Optional[float] = None,
) -> Classification:
    """The kinematics and the type of every contact. With `picture` a notebook shows the neighbourhood of each contact in time, `span`
    seconds to either side. `touching` is how close counts as touching, relative to sizes; `tolerance` is which rates count as zero,
    relative to theirs.

    >>> from carom import Body, Plane, Scene, Sphere
    >>> ball = Body("ball", Sphere(1.0), mass=1.0, position=[0, 0, 1], velocity=[0, 0, -1])
    >>> classify(Scene(body=[ball], plane=[Plane("floor", normal=[0, 0, 1])])).contacts[0].type
    'normal'
    """
    text, svg, said = _carom.ask_classify(
        read(scene),
        number("touching", touching),
        number("tolerance", tolerance),
        flag("picture", picture),
        some_number("span", span),
    )
    if said:
        _warn(said)
    return Classification(text, svg)


def gap(scene: AnyScene, *, at: float = 0.0) -> PairGaps:
    """The signed distance of every pair, in metres, after free flight to the time `at`, in seconds.

    >>> from carom import Body, Scene, Sphere
    >>> pair = Scene(
    ...     body=[
    ...         Body("one", Sphere(1.0), mass=1.0),
    ...         Body("two", Sphere(1.0), mass=1.0, position=[4, 0, 0], velocity=[-1, 0, 0]),
    ...     ]
    ... )
    >>> gap(pair, at=0.5).pairs[0].gap
    1.5
    """
    text, _, said = _carom.ask_gap(read(scene), number("at", at))
    if said:
        _warn(said)
    return PairGaps(text)


def toi(scene: AnyScene, *, until: Optional[float] = None) -> FirstContacts:
    """The first time of impact of every pair in free flight, with a bound on its error, in seconds; searched to `until`, or the
    scene's `run.until`. A pair whose search was given up is `undecided`, and has no contact before its `searched_until`.

    >>> from carom import Body, Scene, Sphere
    >>> pair = Scene(
    ...     body=[
    ...         Body("one", Sphere(1.0), mass=1.0),
    ...         Body("two", Sphere(1.0), mass=1.0, position=[4, 0, 0], velocity=[-1, 0, 0]),
    ...     ]
    ... )
    >>> found = toi(pair).pairs[0]
    >>> abs(found.time - 2.0) <= found.time_error
    True
    """
    text, _, said = _carom.ask_toi(read(scene), some_number("until", until))
    if said:
        _warn(said)
    return FirstContacts(text)


def generalized(
    problem: Union[AnyScene, None] = None,
    *,
    mass: Optional[ArrayLike] = None,
    contacts: Optional[ArrayLike] = None,
    velocity: Optional[ArrayLike] = None,
    restitution: Union[float, ArrayLike, None] = None,
    bilateral: Optional[ArrayLike] = None,
    tangential: Optional[Sequence[int]] = None,
    rough: Optional[Sequence[Mapping[str, Any]]] = None,
    friction: Optional[Sequence[Mapping[str, Any]]] = None,
    law: Optional[Law] = None,
    termination: Optional[Termination] = None,
    order: Optional[Order] = None,
    tolerance: Optional[float] = None,
    max_steps: Optional[int] = None,
    project: bool = False,
    matrices: bool = True,
    strict: bool = False,
) -> Resolved:
    """Resolves an impact given as matrices: by name, or as a dictionary, text or path like a file of `carom generalized`.

    The options are those of `solve`. Without `matrices` the answer leaves out W and the projector, which on large problems cost as much as the rest.

    >>> import numpy as np
    >>> cradle = generalized(
    ...     mass=np.eye(3), contacts=[[-1, 1, 0], [0, -1, 1]], velocity=[1, 0, 0], restitution=1, law="sequential"
    ... )
    >>> np.allclose(cradle.velocity, [0, 0, 1], rtol=0, atol=1e-15)
    True
    """
    given = {
        "mass": mass,
        "contacts": contacts,
        "velocity": velocity,
        "restitution": restitution,
        "bilateral": bilateral,
        "tangential": tangential,
        "rough": rough,
        "friction": friction,
    }
    named = {name: _listed(value) for name, value in given.items() if value is not None}
    if problem is not None and named:
        raise TypeError("give a problem, or its matrices, not both")
    options = _resolution(law, termination, order, tolerance, max_steps, project, strict)
    source = read(named if problem is None else problem)
    text, verdict, _ = _carom.ask_generalized(source, options, flag("matrices", matrices))
    return _judged(Resolved(text), verdict, strict)


def _listed(value: Any) -> Any:
    """Arrays as lists; what else there is as it stands."""
    return value.tolist() if is_array(value) else value


class Solutions(Columns):
    """The impacts of one scene at many velocities: arrays over rows, then bodies or contacts, whose names are `bodies` and
    `contacts`: `velocity`, `angular_velocity`, `impulse`, `impulse_vector`, `energy_before`, `energy_after`, `consistent`,
    `admissible`, `velocity_unique`, `impulse_unique`.

    >>> from carom import Body, Plane, Scene, Sphere
    >>> scene = Scene(body=[Body("ball", Sphere(1.0), mass=2.0, position=[0, 0, 1])], plane=[Plane("floor", normal=[0, 0, 1])])
    >>> found = solve_many(scene, velocity=[[0, 0, -1], [0, 0, -2]])
    >>> found.bodies, found.energy_after.round(12).tolist()
    (['ball'], [1.0, 4.0])
    """

    velocity: Floats
    angular_velocity: Floats
    impulse: Floats
    impulse_vector: Floats
    energy_before: Floats
    energy_after: Floats
    consistent: NDArray[np.bool_]
    admissible: NDArray[np.bool_]
    velocity_unique: NDArray[np.bool_]
    impulse_unique: NDArray[np.bool_]

    def __init__(self, columns: dict[str, Any], bodies: list[str], contacts: list[str]) -> None:
        super().__init__(columns)
        self.bodies = bodies
        self.contacts = contacts

    def _like(self, columns: dict[str, Any]) -> Solutions:
        return Solutions(columns, self.bodies, self.contacts)

    def __reduce__(self) -> tuple[Any, ...]:
        return Solutions, (self._columns, self.bodies, self.contacts)

    def _flat(self) -> Iterator[tuple[str, Any]]:
        """By body or contact, then by axis; by their numbers where names are not their own."""
        for name, column in self._columns.items():
            if column.ndim == 1:
                yield name, column
                continue
            whose = self.contacts if name.startswith("impulse") else self.bodies
            whose = whose if len(set(whose)) == len(whose) else [str(k) for k in range(len(whose))]
            for k, who in enumerate(whose):
                if column.ndim == 2:
                    yield f"{name}_{who}", column[:, k]
                else:
                    for i, axis in enumerate("xyz"):
                        yield f"{name}_{who}_{axis}", column[:, k, i]


def solve_many(
    scene: AnyScene,
    *,
    velocity: Optional[ArrayLike] = None,
    angular_velocity: Optional[ArrayLike] = None,
    law: Optional[Law] = None,
    termination: Optional[Termination] = None,
    order: Optional[Order] = None,
    tolerance: Optional[float] = None,
    max_steps: Optional[int] = None,
    project: bool = False,
    touching: float = _carom.TOUCHING,
    progress: Optional[Progress] = None,
) -> Solutions:
    """Resolves the impact at the scene's instant for many velocities, on all cores: arrays `(n, bodies, 3)` in the order of the
    scene's bodies, or `(n, 3)` for a scene with one. What is not given is the scene's. The options are those of `solve`.

    >>> import numpy as np
    >>> from carom import Body, Plane, Scene, Sphere
    >>> scene = Scene(
    ...     body=[Body("ball", Sphere(1.0), mass=2.0, position=[0, 0, 1])], plane=[Plane("floor", normal=[0, 0, 1])]
    ... )
    >>> solve_many(scene, velocity=[[0, 0, -1], [0, 0, -2]]).impulse[:, 0]
    array([4., 8.])
    """
    given = [_states(velocity, "velocity"), _states(angular_velocity, "angular_velocity")]
    counts = {len(array) for array in given if array is not None}
    if len(counts) != 1:
        raise ValueError("give velocity, angular_velocity or both, with as many rows each")
    options = _resolution(law, termination, order, tolerance, max_steps, project, False)
    count = counts.pop()
    bodies, contacts, columns, said = _carom.solve_many(
        read(scene), options, number("touching", touching), count, given[0], given[1], progress
    )
    if said:
        _warn(said)
    return Solutions(columns, bodies, contacts)


def _states(value: Optional[ArrayLike], name: str) -> Optional[Floats]:
    if value is None:
        return None
    array = numbers(value, name)
    if array.ndim not in (2, 3) or array.shape[-1] != 3:
        raise ValueError(f"{name} has shape {array.shape}, expected (n, bodies, 3)")
    return array


def paradox(
    first: Union[Shape, str],
    second: Union[Shape, str],
    *,
    type: Kind = "2b_star",
    planar: bool = False,
    seed: int = 0,
    before: float = 0.0,
    strict: bool = False,
) -> Paradox:
    """Finds how two bodies of these shapes, homogeneous and of unit mass, can touch so that free flight would let them overlap
    though nothing closes. `scene` of the answer is a scene to run, where there is one.

    `type` is that of the contact wanted, `planar` asks for a motion in a plane, `seed` chooses among random ones, and `before` is how
    long before the contact the scene begins, in seconds. With `strict` nothing found raises `PhysicsError`.

    >>> from carom import Ellipsoid
    >>> found = paradox(Ellipsoid([3, 1, 1]), Ellipsoid([1.5, 0.7, 1]), type="2b", planar=True)
    >>> classify(found.toml).contacts[0].type
    'paradox_2b'
    """
    text, toml, verdict = _carom.ask_paradox(
        [_spelled(first), _spelled(second)],
        word("type", type),
        flag("planar", planar),
        whole("seed", seed),
        number("before", before),
    )
    answer = Paradox(text)
    answer.toml = toml
    if strict and verdict:
        raise PhysicsError("no such paradox was found: " + str(answer.to_dict().get("reason", "")), answer)
    return answer


def _spelled(shape: Union[Shape, str]) -> str:
    """A shape as the program's command line has it."""
    if isinstance(shape, str):
        return shape
    if isinstance(shape, Sphere):
        return f"sphere({number('radius', shape.radius)!r})"
    if isinstance(shape, Superellipsoid):
        axes = ",".join(repr(float(axis)) for axis in np.asarray(shape.semi_axes))
        return f"superellipsoid({axes};{number('exponent', shape.exponent)!r})"
    if isinstance(shape, Ellipsoid):
        return "ellipsoid(" + ",".join(repr(float(axis)) for axis in np.asarray(shape.semi_axes)) + ")"
    raise TypeError("a paradox takes spheres, ellipsoids and superellipsoids")


def paper(name: Optional[str] = None) -> Paper:
    """Reproduces a published example, every printed value beside the computed one; without a name, lists the examples.

    >>> [each.name for each in paper().papers]
    ['treschev-zubelevich', 'stanescu-pandrea', 'dragna-pandrea-stanescu', 'palffy-muhoray']
    """
    return Paper(_carom.ask_paper(name))


def schema() -> dict[str, Any]:
    """The JSON Schema of a scene.

    >>> schema()["title"]
    'carom scene'
    """
    found: dict[str, Any] = json.loads(_carom.ask_schema())
    return found
