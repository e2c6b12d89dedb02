"""Scenes: a dictionary, TOML or JSON text, a path, or small classes that mirror the file field by field.

Whatever a scene is made of, it becomes the same document and goes through the same reader, so that a mistake gets the same words as
in a file.

>>> scene = Scene(
...     body=[
...         Body("ball", Sphere(1.0), mass=2.0, position=[0, 0, 1], velocity=[0, 0, -3]),
...     ],
...     plane=[Plane("floor", normal=[0, 0, 1])],
...     surface=Surface(restitution=0.5),
... )
>>> scene.to_dict()["body"][0]["shape"]
{'sphere': {'radius': 1.0}}
"""

from __future__ import annotations

import html
import json
import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterator, Mapping, Optional, Sequence, TypeGuard, Union

from numpy.typing import ArrayLike

from . import _carom
from ._arrays import is_array
from ._json import is_list, is_mapping, is_table
from ._toml import written
from .bodies import Bodies
from .errors import SceneError
from .shapes import Box, Capsule, Cone, Cylinder, Disc, Ellipsoid, Point, Polyhedron, Shape, Sphere, Superellipsoid

__all__ = [
    "Ball",
    "Body",
    "Box",
    "Capsule",
    "Cone",
    "Contact",
    "Cylinder",
    "Disc",
    "Ellipsoid",
    "Fill",
    "Force",
    "Hinge",
    "Impact",
    "Joint",
    "KnifeEdge",
    "Load",
    "Plane",
    "Point",
    "Polyhedron",
    "Rolling",
    "Rows",
    "Run",
    "Scene",
    "Slider",
    "Sphere",
    "Spring",
    "Superellipsoid",
    "Surface",
    "SurfacePair",
    "Torque",
    "Weld",
    "World",
]

SurfaceKind = Union[str, Mapping[str, float]]


def _is_path(value: object) -> TypeGuard[os.PathLike[str]]:
    return isinstance(value, os.PathLike)


def _given(part: Any) -> dict[str, Any]:
    """The fields of a part that are given."""
    fields: dict[str, Any] = part.__dict__
    return {name: value for name, value in fields.items() if value is not None}


def _brief(value: Any) -> str:
    """A value in a line, however long it is."""
    if is_array(value):
        value = value.tolist()
    text = repr(value)
    return text if len(text) <= 100 else f"[… {len(value)}]" if is_list(value) else f"{text[:97]}…"


def _entry(value: Any) -> Any:
    """As JSON has it, one level down: what the encoder does not know by itself."""
    if isinstance(value, (Shape, Kind, Scene)):
        return value._entry()
    if isinstance(value, _PARTS):
        return _given(value)
    if is_array(value):
        return value.tolist()
    if is_mapping(value):
        return dict(value)
    if _is_path(value):
        return os.fspath(value)
    raise TypeError(f"{type(value).__name__} has no place in a scene")


_encode = json.JSONEncoder(default=_entry).encode
_encode_finite = json.JSONEncoder(default=_entry, allow_nan=False).encode


def _infinite(node: Any, path: str) -> Iterator[tuple[str, float]]:
    """The numbers of a document that are not finite, with their places."""
    if is_table(node):
        for key, entry in node.items():
            yield from _infinite(entry, f"{path}.{key}" if path else key)
    elif is_list(node):
        for k, entry in enumerate(node):
            yield from _infinite(entry, f"{path}[{k}]")
    elif isinstance(node, float) and not math.isfinite(node):
        yield path, node


def _text(name: str, scene: Any) -> Text:
    """A scene of Python's as a text. JSON has no words for NaN and infinity, so they are refused here, in the reader's words."""
    try:
        return Text(name, _encode_finite(scene), True)
    except ValueError:
        found = list(_infinite(json.loads(_encode(scene)), ""))
        if not found:
            raise
    faults = [(1, 1, path, str(x), _fault(x), "a finite number") for path, x in found]
    raise SceneError(name, faults)


def _fault(x: float) -> str:
    return "is not a number" if math.isnan(x) else "is infinite, or too large for a 64-bit float"


class Part:
    """A part of a scene; it is shown with what was given."""

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={_brief(value)}" for name, value in _given(self).items() if name != "_name")
        return f"{type(self).__name__}({given})"


class Kind(Part):
    """What stands under `kind` in a joint or a load: one table under its name."""

    _name = ""

    def _entry(self) -> dict[str, Any]:
        return {self._name: _given(self)}


@dataclass(eq=False, repr=False)
class Body(Part):
    """A body: `[[body]]` of a scene, in SI units.

    `mass` in kg or `density` in kg/m³; `inertia`, the principal moments in kg m², where it is not that of the homogeneous body; `position`
    of the centre of mass in m; `orientation` a quaternion `[w, x, y, z]` or a table as the file has it, from body axes to world axes;
    `velocity` in m/s; `angular_velocity` in rad/s in the world frame, or `angular_velocity_body` in the body's, or `bryan_rates`, those
    of an orientation `{"bryan": [psi, theta, phi]}`. A `fixed` body does not move.

    >>> Body("ball", Sphere(0.1), mass=1.0, velocity=[1, 0, 0])
    Body(name='ball', shape=Sphere(radius=0.1), mass=1.0, velocity=[1, 0, 0])
    """

    name: str
    shape: Union[Shape, Mapping[str, Any]]
    mass: Optional[float] = None
    density: Optional[float] = None
    inertia: Optional[ArrayLike] = None
    position: Optional[ArrayLike] = None
    orientation: Union[ArrayLike, Mapping[str, Any], None] = None
    velocity: Optional[ArrayLike] = None
    angular_velocity: Optional[ArrayLike] = None
    angular_velocity_body: Optional[ArrayLike] = None
    fixed: Optional[bool] = None
    bryan_rates: Optional[ArrayLike] = None

    def __post_init__(self) -> None:
        if isinstance(self.shape, Kind):
            kind = type(self.shape).__name__
            raise TypeError(f"{self.name}: {kind} is no shape; there are Point, Sphere, Ellipsoid, Superellipsoid, Box, Cylinder, Capsule, Cone, Disc, Polyhedron")

    def _bodies(self) -> Bodies:
        """The same for calls that take many."""
        if not isinstance(self.shape, Shape):
            raise TypeError(f"{self.name}: give the shape as a class, such as carom.Sphere")
        if isinstance(self.orientation, Mapping) or self.angular_velocity_body is not None or self.bryan_rates is not None:
            raise ValueError(f"{self.name}: give a quaternion, and the angular velocity in the world frame")
        mass = self.mass
        if mass is None and self.density is not None:
            mass = self.density * self.shape.volume
        zero = (0.0, 0.0, 0.0)
        return Bodies(
            self.shape,
            position=zero if self.position is None else self.position,
            orientation=(1.0, 0.0, 0.0, 0.0) if self.orientation is None else self.orientation,
            velocity=zero if self.velocity is None else self.velocity,
            angular_velocity=zero if self.angular_velocity is None else self.angular_velocity,
            mass=1.0 if mass is None else mass,
            inertia=self.inertia,
            fixed=bool(self.fixed),
        )


@dataclass(eq=False, repr=False)
class Plane(Part):
    """An immovable half-space, free where normal · x > offset: `[[plane]]` of a scene.

    >>> Plane("floor", normal=[0, 0, 1])
    Plane(name='floor', normal=[0, 0, 1], offset=0.0)
    """

    name: str
    normal: ArrayLike
    offset: ArrayLike = 0.0


@dataclass(eq=False, repr=False)
class Hinge(Kind):
    """Turning about one axis only.

    >>> Hinge(point=[0, 0, 1], axis=[0, 1, 0])
    Hinge(point=[0, 0, 1], axis=[0, 1, 0])
    """

    point: ArrayLike
    axis: ArrayLike
    _name = "hinge"


@dataclass(eq=False, repr=False)
class Ball(Kind):
    """Turning about one point only.

    >>> Ball(point=[0, 0, 1])
    Ball(point=[0, 0, 1])
    """

    point: ArrayLike
    _name = "ball"


@dataclass(eq=False, repr=False)
class Slider(Kind):
    """Sliding along one axis only.

    >>> Slider(axis=[1, 0, 0])
    Slider(axis=[1, 0, 0])
    """

    axis: ArrayLike
    _name = "slider"


@dataclass(eq=False, repr=False)
class Weld(Kind):
    """No relative motion.

    >>> Joint("glue", ["one", "two"], Weld())
    Joint(name='glue', bodies=['one', 'two'], kind=Weld())
    """

    _name = "weld"


@dataclass(eq=False, repr=False)
class Rolling(Kind):
    """Touching a plane and not slipping on it.

    >>> Rolling(plane="floor")
    Rolling(plane='floor')
    """

    plane: str
    _name = "rolling"


@dataclass(eq=False, repr=False)
class KnifeEdge(Kind):
    """No velocity along a body-fixed direction at a point.

    >>> KnifeEdge(point=[0, 0, 0], normal=[0, 1, 0])
    KnifeEdge(point=[0, 0, 0], normal=[0, 1, 0])
    """

    point: ArrayLike
    normal: ArrayLike
    _name = "knife_edge"


@dataclass(eq=False, repr=False)
class Rows(Kind):
    """Any constraint A v = 0 at this instant: rows of 6 numbers a body, linear then angular.

    >>> Rows([[0, 0, 1, 0, 0, 0]])
    Rows(rows=[[0, 0, 1, 0, 0, 0]])
    """

    rows: ArrayLike

    def _entry(self) -> dict[str, Any]:
        return {"rows": self.rows}


@dataclass(eq=False, repr=False)
class Joint(Part):
    """A joint between two bodies, or of one to the ground: `[[joint]]` of a scene.

    >>> Joint("pin", ["arm"], Hinge(point=[0, 0, 1], axis=[0, 1, 0]))
    Joint(name='pin', bodies=['arm'], kind=Hinge(point=[0, 0, 1], axis=[0, 1, 0]))
    """

    name: str
    bodies: Sequence[str]
    kind: Union[Kind, Mapping[str, Any]]


@dataclass(eq=False, repr=False)
class Force(Kind):
    """A constant force on a body.

    >>> Force(body="ball", vector=[0, 0, -1])
    Force(body='ball', vector=[0, 0, -1])
    """

    body: str
    vector: ArrayLike
    point: Optional[ArrayLike] = None
    _name = "force"


@dataclass(eq=False, repr=False)
class Torque(Kind):
    """A constant torque on a body.

    >>> Torque(body="top", vector=[0, 0, 0.1])
    Torque(body='top', vector=[0, 0, 0.1])
    """

    body: str
    vector: ArrayLike
    _name = "torque"


@dataclass(eq=False, repr=False)
class Spring(Kind):
    """A spring with a damper along it, between two bodies or a body and the ground.

    >>> Spring(bodies=["ball"], points=[[0, 0, 0], [0, 0, 1]], stiffness=10.0)
    Spring(bodies=['ball'], points=[[0, 0, 0], [0, 0, 1]], stiffness=10.0)
    """

    bodies: Sequence[str]
    points: ArrayLike
    stiffness: float
    length: Optional[float] = None
    damping: Optional[float] = None
    _name = "spring"


@dataclass(eq=False, repr=False)
class Load(Part):
    """A force besides gravity: `[[load]]` of a scene.

    >>> Load("push", Force(body="ball", vector=[1, 0, 0]))
    Load(name='push', kind=Force(body='ball', vector=[1, 0, 0]))
    """

    name: str
    kind: Union[Kind, Mapping[str, Any]]


@dataclass(eq=False, repr=False)
class Contact(Part):
    """An explicit contact: `[[contact]]` of a scene. The normal points from the first body to the second; `kind` is how the surface
    answers, as in `Surface` (`surface` is its older name).

    >>> Contact(["ball", "floor"], point=[0, 0, 0], normal=[0, 0, 1], restitution=0.5)
    Contact(bodies=['ball', 'floor'], point=[0, 0, 0], normal=[0, 0, 1], restitution=0.5)
    """

    bodies: Sequence[str]
    point: ArrayLike
    normal: Optional[ArrayLike] = None
    restitution: Optional[float] = None
    surface: Optional[SurfaceKind] = None
    name: Optional[str] = None
    kind: Optional[SurfaceKind] = None


@dataclass(eq=False, repr=False)
class Fill(Part):
    """Many bodies at once: `[[fill]]` of a scene.

    >>> Fill("gas", 100, Sphere(0.5), mass=1.0, packing_fraction=0.3, temperature=1.0)
    Fill(name='gas', count=100, shape=Sphere(radius=0.5), mass=1.0, packing_fraction=0.3, temperature=1.0)
    """

    name: str
    count: int
    shape: Union[Shape, Mapping[str, Any]]
    mass: Optional[float] = None
    density: Optional[float] = None
    packing_fraction: Optional[float] = None
    temperature: Optional[float] = None
    start: Optional[str] = None
    seed: Optional[int] = None
    equilibrate: Optional[float] = None


@dataclass(eq=False, repr=False)
class SurfacePair(Part):
    """The surface of one pair: `[[surface.pair]]`.

    >>> SurfacePair(["ball", "floor"], kind={"coulomb": 0.3})
    SurfacePair(bodies=['ball', 'floor'], kind={'coulomb': 0.3})
    """

    bodies: Sequence[str]
    restitution: Optional[float] = None
    kind: Optional[SurfaceKind] = None


@dataclass(eq=False, repr=False)
class Surface(Part):
    """What detected contacts get: `[surface]`.

    >>> Surface(restitution=0.8, kind="rough")
    Surface(restitution=0.8, kind='rough')
    """

    restitution: Optional[float] = None
    kind: Optional[SurfaceKind] = None
    pair: Optional[Sequence[Union[SurfacePair, Mapping[str, Any]]]] = None


@dataclass(eq=False, repr=False)
class World(Part):
    """What holds everywhere: `[world]`.

    >>> World(gravity=[0, 0, -9.81])
    World(gravity=[0, 0, -9.81])
    """

    gravity: Optional[ArrayLike] = None
    periodic: Optional[ArrayLike] = None


@dataclass(eq=False, repr=False)
class Impact(Part):
    """How impacts are resolved: `[impact]`; the laws and terminations of `solve`.

    >>> Impact(law="poisson")
    Impact(law='poisson')
    """

    law: Optional[str] = None
    termination: Optional[str] = None


@dataclass(eq=False, repr=False)
class Run(Part):
    """How the scene is run: `[run]`; the options of the function `run`, `record_events`, whether events are kept,
    `contact_time`: among very many bodies, a collision sooner than this after another of the same body is elastic, `rest_speed`:
    impacts slower than this are plastic, and `on_trouble`: `step` or `stop` where the exact motion has no continuation.

    >>> Run(until=2.0, sample=0.01)
    Run(until=2.0, sample=0.01)
    """

    until: Optional[float] = None
    max_events: Optional[int] = None
    sample: Optional[float] = None
    record_events: Optional[bool] = None
    on_paradox: Optional[str] = None
    contact_time: Optional[float] = None
    rest_speed: Optional[float] = None
    on_trouble: Optional[str] = None


def _none() -> list[Any]:
    return []


@dataclass(eq=False, repr=False)
class Scene:
    """A scene. Parts are the classes of this module, or dictionaries as the file has them; lists may be extended in place.

    >>> Scene(title="One", body=[Body("ball", Sphere(0.1), mass=1.0)], plane=[Plane("floor", normal=[0, 0, 1])])
    <Scene: 'One', 1 body, 1 plane>
    """

    title: Optional[str] = None
    source: Optional[str] = None
    world: Union[World, Mapping[str, Any], None] = None
    body: list[Union[Body, Mapping[str, Any]]] = field(default_factory=_none)
    plane: list[Union[Plane, Mapping[str, Any]]] = field(default_factory=_none)
    joint: list[Union[Joint, Mapping[str, Any]]] = field(default_factory=_none)
    load: list[Union[Load, Mapping[str, Any]]] = field(default_factory=_none)
    contact: list[Union[Contact, Mapping[str, Any]]] = field(default_factory=_none)
    fill: list[Union[Fill, Mapping[str, Any]]] = field(default_factory=_none)
    surface: Union[Surface, Mapping[str, Any], None] = None
    impact: Union[Impact, Mapping[str, Any], None] = None
    run: Union[Run, Mapping[str, Any], None] = None
    scatter: Optional[Mapping[str, Any]] = None
    sweep: Optional[Mapping[str, Any]] = None

    def __repr__(self) -> str:
        counts = {"body": "bodies", "plane": "planes", "joint": "joints", "load": "loads", "contact": "contacts", "fill": "fills"}
        found = [f"{len(getattr(self, name))} {name if len(getattr(self, name)) == 1 else words}" for name, words in counts.items() if getattr(self, name)]
        return f"<Scene: {', '.join([*([repr(self.title)] if self.title else []), *found]) or 'nothing in it'}>"

    def _repr_html_(self) -> str:
        text = self.to_toml()
        return f"<pre>{html.escape(text if len(text) < 20_000 else text[:20_000] + '…')}</pre>"

    def _entry(self) -> dict[str, Any]:
        return {"carom": 1, **{name: value for name, value in _given(self).items() if value != []}}

    @classmethod
    def of(cls, scene: AnyScene) -> Scene:
        """The scene of a path, a text or a dictionary, checked, to be changed: its parts are dictionaries as the file has them.

        >>> scene = Scene.of({"carom": 1, "body": [{"name": "ball", "shape": {"sphere": {"radius": 1}}, "mass": 1}]})
        >>> scene.body[0]["velocity"] = [0, 0, -1]
        >>> scene.surface = Surface(restitution=1.0)
        >>> scene.to_dict()["body"][0]["velocity"]
        [0, 0, -1]
        """
        text, _ = _carom.ask_document(read(scene))
        document = json.loads(text)
        for name in ("carom", "$schema"):
            document.pop(name, None)
        return cls(**document)

    def to_dict(self) -> dict[str, Any]:
        """The document, as JSON has it."""
        document: dict[str, Any] = json.loads(_encode(self))
        return document

    def to_toml(self) -> str:
        """The scene as a file has it; what it says is read back to the bit.

        >>> print(Scene(body=[Body("ball", Sphere(0.5), mass=2.0, velocity=[0, 0, -1])]).to_toml())
        carom = 1
        <BLANKLINE>
        [[body]]
        name = "ball"
        shape = { sphere = { radius = 0.5 } }
        mass = 2.0
        velocity = [0, 0, -1]
        <BLANKLINE>
        """
        return written(json.loads(_encode_finite(self)))

    def save(self, path: Union[str, "os.PathLike[str]"], *, force: bool = False) -> Path:
        """Writes the scene to a file, `.toml` or `.json`; returns its path. A file that is there is replaced only with `force`.

        >>> import tempfile
        >>> ball = Scene(body=[Body("ball", Sphere(0.5), mass=2.0)])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Scene.of(ball.save(Path(folder) / "ball.toml")).to_dict() == ball.to_dict()
        True
        """
        place = Path(path)
        text = _text(str(place), self).text if place.suffix.lower() == ".json" else self.to_toml()
        with open(place, "w" if force else "x", encoding="utf-8", newline="\n") as file:
            file.write(text if text.endswith("\n") else text + "\n")
        return place


_PARTS = (Body, Plane, Joint, Load, Contact, Fill, SurfacePair, Surface, World, Impact, Run)

class Text:
    """A text with the name that messages give it: what the Rust side reads."""

    __slots__ = ("name", "text", "json")

    def __init__(self, name: str, text: str, json: Optional[bool]) -> None:
        self.name = name
        self.text = text
        self.json = json


AnyScene = Union[Scene, Mapping[str, Any], str, "os.PathLike[str]", Text]


def read(scene: AnyScene) -> Text:
    """The text of a scene: a path is opened. A string is a path if it names a file that exists, or if nothing in it is TOML or JSON:
    neither a line's end nor `=` nor `{`."""
    if isinstance(scene, Text):
        return scene
    if isinstance(scene, (Scene, Mapping)):
        return _text("<Scene>" if isinstance(scene, Scene) else "<dict>", scene)
    if isinstance(scene, os.PathLike):
        return _open(Path(scene))
    if isinstance(scene, str):
        if scene.strip() and not any(mark in scene for mark in "\n={"):
            return _open(Path(scene))
        if "\n" not in scene and len(scene) < 4096 and "\0" not in scene and os.path.isfile(scene):
            return _open(Path(scene))
        return Text("<str>", scene, None)
    raise TypeError(f"expected a Scene, a dict, text or a path, found {type(scene).__name__}")


def _open(path: Path) -> Text:
    text = path.read_text(encoding="utf-8")
    kind = {".json": True, ".toml": False}.get(path.suffix.lower())
    return Text(str(path), text, kind)
