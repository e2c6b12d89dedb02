"""Python gives the program's answers: the same documents, bit for bit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable

import pytest

import carom

ROOT = Path(__file__).resolve().parents[3]
Program = Callable[..., Any]
PAPERS = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "cases/papers").glob("*.toml"))
PROBLEMS = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "cases/laws").glob("*.toml"))
FLYING = [
    "cases/papers/paradox.toml",
    "cases/gallery/collision.toml",
    "cases/gallery/graze.toml",
    "cases/gallery/box.toml",
]


def same(ours: carom.Answer, theirs: Any) -> None:
    """Floats are compared by their shortest text, which is that of their bits."""
    assert json.dumps(ours.to_dict()) == json.dumps(theirs)


@pytest.mark.parametrize("path", PAPERS)
def test_solve(path: str, program: Program) -> None:
    same(carom.solve(path), program("solve", path))


@pytest.mark.parametrize("path", PAPERS[::3])
def test_compare_and_classify(path: str, program: Program) -> None:
    same(carom.compare(path), program("compare", path))
    same(carom.classify(path), program("classify", path))


@pytest.mark.parametrize("path", FLYING)
def test_gap_and_toi(path: str, program: Program) -> None:
    same(carom.gap(path), program("gap", path))
    same(carom.gap(path, at=0.01), program("gap", path, "--at", "0.01"))
    same(carom.toi(path, until=3.0), program("toi", path, "--until", "3"))


@pytest.mark.parametrize("path", PROBLEMS)
def test_generalized(path: str, program: Program) -> None:
    same(carom.generalized(path), program("generalized", path))


def test_options(program: Program) -> None:
    path = "cases/laws/cradle.toml"
    for options, words in [
        ({"law": "sequential", "order": "reversed"}, ["--law", "sequential", "--order", "reversed"]),
        ({"law": "sequential", "order": [1, 0]}, ["--law", "sequential", "--order", "1,0"]),
        ({"tolerance": 1e-6}, ["--tolerance", "1e-6"]),
    ]:
        same(carom.generalized(path, **options), program("generalized", path, *words))  # type: ignore[arg-type]
    path = "cases/papers/sp_two_planes.toml"
    same(carom.solve(path, law="poisson", screws=True), program("solve", path, "--law", "poisson", "--screws"))


def test_papers(program: Program) -> None:
    same(carom.paper(), program("paper"))
    names = [paper.name for paper in carom.paper().papers]
    assert len(names) == 4
    for name in names:
        same(carom.paper(name), program("paper", name))


def test_paradox_and_schema(program: Program) -> None:
    words = ["--shapes", "ellipsoid(3,1,1)", "ellipsoid(1.5,0.7,1)", "--type", "2b", "--planar", "--seed", "3"]
    found = carom.paradox(carom.Ellipsoid([3, 1, 1]), "ellipsoid(1.5,0.7,1)", type="2b", planar=True, seed=3)
    same(found, program("paradox", *words))
    assert found.toml is not None and carom.run(found.toml, until=0.2).stopped == "until"
    none = carom.paradox(carom.Sphere(1.0), carom.Sphere(2.0))
    assert none.toml is None
    with pytest.raises(carom.PhysicsError):
        carom.paradox(carom.Sphere(1.0), carom.Sphere(2.0), strict=True)
    for wrong in (
        lambda: carom.paradox("cube(1)", "sphere(1)"),
        lambda: carom.paradox("sphere(1)", "sphere(1)", type="3c"),
    ):
        with pytest.raises(carom.OptionError):
            wrong()
    assert json.dumps(carom.schema()) == json.dumps(program("schema"))


def test_the_picture_of_a_contact() -> None:
    found = carom.classify("cases/papers/paradox.toml", picture=True)
    assert found.svg is not None and found.svg.startswith("<svg") and found._repr_svg_() == found.svg
    assert carom.classify("cases/papers/paradox.toml").svg is None


def test_a_scene_is_the_same_as_path_text_dict_and_classes(program: Program) -> None:
    toml = """
carom = 1
[world]
gravity = [0, 0, -9.81]
[[body]]
name = "arm"
shape = { ellipsoid = { semi_axes = [0.5, 0.1, 0.1] } }
mass = 1.5
position = [0.5, 0, 0.1]
angular_velocity = [0, 1, 0]
velocity = [0, 0, -0.5]
[[plane]]
name = "floor"
normal = [0, 0, 1]
[[joint]]
name = "pin"
bodies = ["arm"]
kind = { hinge = { point = [0, 0, 0.1], axis = [0, 1, 0] } }
[surface]
restitution = 0.25
kind = { coulomb = 0.3 }
[impact]
law = "poisson"
"""
    made = carom.Scene(
        world=carom.World(gravity=[0, 0, -9.81]),
        body=[
            carom.Body(
                "arm",
                carom.Ellipsoid([0.5, 0.1, 0.1]),
                mass=1.5,
                position=[0.5, 0, 0.1],
                angular_velocity=[0, 1, 0],
                velocity=[0, 0, -0.5],
            )
        ],
        plane=[carom.Plane("floor", normal=[0, 0, 1])],
        joint=[carom.Joint("pin", ["arm"], carom.Hinge([0, 0, 0.1], [0, 1, 0]))],
        surface=carom.Surface(restitution=0.25, kind={"coulomb": 0.3}),
        impact=carom.Impact(law="poisson"),
    )
    theirs = program("solve", "-", stdin=toml)
    assert theirs["joints"]["pin"]["impulse"]
    for scene in (toml, made, made.to_dict()):
        same(carom.solve(scene), theirs)


@pytest.mark.parametrize("path", PAPERS)
def test_a_scene_that_is_loaded_is_the_same(path: str, program: Program) -> None:
    scene = carom.Scene.of(path)
    same(carom.solve(scene), program("solve", path))
    assert carom.Scene.of(scene).to_dict() == scene.to_dict() == carom.Scene.of(scene.to_dict()).to_dict()


def test_every_class_is_taken_by_the_reader() -> None:
    ball = carom.Body("ball", carom.Sphere(1.0), mass=1.0, position=[0, 0, 1])
    bead = carom.Body("bead", carom.Point(), mass=1.0, inertia=[1, 1, 1], position=[3, 0, 0])
    box = carom.Body("box", carom.Superellipsoid([1, 1, 1], 8), density=2.0, position=[9, 0, 2])
    kinds = [
        carom.Ball([3, 0, 0]),
        carom.Slider([1, 0, 0]),
        carom.Weld(),
        carom.KnifeEdge([3, 0, 0], [0, 1, 0]),
        carom.Rows([[0, 0, 1, 0, 0, 0]]),
    ]
    for kind in kinds:
        scene = carom.Scene(body=[ball, bead, box], joint=[carom.Joint("tie", ["bead"], kind)])
        assert carom.solve(scene).joints.tie is not None
    floor = carom.Plane("floor", normal=[0, 0, 1])
    rolling = carom.Scene(body=[ball], plane=[floor], joint=[carom.Joint("roll", ["ball"], carom.Rolling("floor"))])
    assert carom.solve(rolling).consistent
    contact = carom.Contact(
        ["ball", "bead"], point=[1, 0, 1], normal=[1, 0, 0], restitution=0.5, kind="rough", name="c"
    )
    loads = [
        carom.Load("push", carom.Force("ball", [1, 0, 0], point=[0, 0, 1])),
        carom.Load("twist", carom.Torque("ball", [0, 0, 1])),
        carom.Load("spring", carom.Spring(["ball", "bead"], [[0, 0, 1], [3, 0, 0]], 10.0, length=1.0, damping=0.1)),
    ]
    scene = carom.Scene(title="all", source="here", body=[ball, bead], load=loads, contact=[contact])
    assert carom.solve(scene).contacts[0].name == "c"
    pair = carom.SurfacePair(["ball", "floor"], restitution=0.1)
    rules = carom.Scene(body=[ball], plane=[floor], surface=carom.Surface(pair=[pair]), run=carom.Run(until=1.0))
    assert carom.solve(rules).contacts[0].restitution == 0.1


@pytest.mark.parametrize("words", [["solve", "cases/papers/sp_corner.toml"], ["check", "cases/papers/sp_corner.toml", "--json"], ["walk"]])
def test_the_package_has_the_program(words: list[str], binary: str) -> None:
    """`python -m carom`, and the command that pip installs, are the program: what it prints and how it exits."""
    theirs = subprocess.run([binary, *words], capture_output=True, check=False)
    scripts = Path(sys.executable).parent
    for ours in ([sys.executable, "-m", "carom"], [str(scripts / "carom")]):
        done = subprocess.run([*ours, *words], capture_output=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr)
