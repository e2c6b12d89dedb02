"""What a user may get wrong is said, and what is right is not taken for something else."""

from __future__ import annotations

import copy
import json
import multiprocessing
import os
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import carom

CORNER = "cases/papers/sp_corner.toml"


def ball(radius: float) -> carom.Convex:
    def hessian(n: Any) -> Any:
        size = np.linalg.norm(n)
        return radius * (np.eye(3) / size - np.outer(n, n) / size**3)

    return carom.Convex(lambda n: radius * n / np.linalg.norm(n), hessian, circumradius=radius, inradius=radius)


def test_a_body_of_ones_own_shape_is_no_point() -> None:
    shape, inertia = ball(1.0), [0.4, 0.4, 0.4]
    one = carom.Body("one", shape, inertia=inertia)  # type: ignore[arg-type]
    two = carom.Body("two", carom.Sphere(1.0), position=[10, 0, 0], velocity=[-3, 0, 0])
    assert carom.gap_many(one, two).gap[0] == pytest.approx(8.0, abs=1e-14)
    assert carom.gap_many(two, one).gap[0] == pytest.approx(8.0, abs=1e-14)
    assert carom.toi_many(one, two, until=10.0).time[0] == pytest.approx(8.0 / 3.0, abs=1e-14)
    floor = carom.Plane("floor", normal=[0, 0, 1], offset=-4.0)
    assert carom.gap_many(floor, one).gap[0] == pytest.approx(3.0, abs=1e-14)


def test_a_shape_of_ones_own_says_what_it_lacks() -> None:
    shape = ball(1.0)
    far = carom.Bodies(carom.Sphere(1.0), position=[10, 0, 0], velocity=[-3, 0, 0])
    with pytest.raises(ValueError, match="unit_inertia"):
        carom.toi_many(carom.Bodies(shape), far, until=10.0)
    assert carom.toi_many(carom.Bodies(shape, fixed=True), far, until=10.0).met[0]
    for near, wide in ((2.0, 1.0), (-1.0, 1.0), (float("nan"), 1.0), (1.0, float("inf"))):
        with pytest.raises(ValueError, match="inradius"):
            carom.Convex(shape.support, shape.support_hessian, circumradius=wide, inradius=near)
    for said in (None, [float("nan")] * 3, [1.0, 2.0]):
        wrong = carom.Convex(lambda n: said, shape.support_hessian, circumradius=1.0, inradius=1.0)  # type: ignore
        with pytest.raises(ValueError, match=r"support\(\[.*three finite numbers"):
            carom.gap_many(carom.Bodies(wrong), far)
    assert repr(shape) == "Convex(circumradius=1.0, inradius=1.0)"


def _in_a_child(queue: Any) -> None:
    gaps = carom.gap_many(carom.Bodies(carom.Sphere(1.0)), carom.Bodies(carom.Sphere(1.0), position=np.full((3000, 3), 4.0)))
    solved = carom.solve_many(CORNER, velocity=np.full((100, 1, 3), -1.0))
    flown = carom.Flight(carom.Sphere(1.0), velocity=[1, 0, 0]).at(np.linspace(0, 1, 300))
    gas = carom.run_replicas("cases/gallery/sphere_gas.toml", 2, until=0.01)
    queue.put((len(gaps), len(solved), len(flown.position), len(gas.replicas)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_children_of_a_process_that_has_threads() -> None:
    """A fork copies no threads: what a parent's pool would do in a child is never done."""
    carom.gap_many(carom.Bodies(carom.Sphere(1.0)), carom.Bodies(carom.Sphere(1.0), position=np.full((3000, 3), 4.0)))
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_a_child, args=(queue,))
    child.start()
    try:
        assert queue.get(timeout=30.0) == (3000, 100, 300, 2)
        child.join(timeout=30.0)
        assert child.exitcode == 0
    finally:
        child.kill()


def test_a_flight_at_one_time() -> None:
    flight = carom.Flight(carom.Sphere(1.0), velocity=[1.0, 0.0, 0.0])
    state = flight.at(0.3)
    assert state.position.shape == (3,) and state.orientation.shape == (4,)
    assert flight.at([[0.1, 0.2]]).position.shape == (1, 2, 3)
    for again in (copy.deepcopy(flight), pickle.loads(pickle.dumps(flight))):
        assert again.at(0.3).position.tolist() == state.position.tolist()
    assert "Sphere(radius=1.0)" in repr(flight)
    with pytest.raises(ValueError, match="triangle inequality"):
        carom.Flight(inertia=[1, 2, 30])


def test_strings_that_are_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = Path(CORNER).read_text()
    (tmp_path / "x=1.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert carom.solve("x=1.toml").to_dict() == carom.solve(text).to_dict()
    for empty in ("", "  "):
        with pytest.raises(carom.SceneError):
            carom.solve(empty)


def test_numbers_that_are_none() -> None:
    nan, inf = float("nan"), float("inf")
    scene = carom.Scene(body=[carom.Body("a", carom.Sphere(1.0), mass=1.0, position=[0, nan, 0], velocity=[inf, 0, 0])])
    for given in (scene, scene.to_dict()):
        with pytest.raises(carom.SceneError) as caught:
            carom.solve(given)
        assert [each.field for each in caught.value.diagnostics] == ["body[0].position[1]", "body[0].velocity[0]"]
        assert str(caught.value).startswith("body[0].position[1]: is not a number; expected a finite number")
    with pytest.raises(carom.SceneError) as caught:
        carom.generalized(mass=[[nan]], contacts=[[1]], velocity=[-1], restitution=1)
    assert caught.value.field == "mass[0][0]"


def test_places_of_what_has_no_lines() -> None:
    scene = carom.Scene(body=[carom.Body("a", carom.Sphere(1.0), mass=-1.0)])
    with pytest.raises(carom.SceneError) as caught:
        carom.solve(scene)
    assert str(caught.value).startswith("body[0].mass: ")
    scene = carom.Scene(body=[carom.Body("a", carom.Sphere(1.0), mass=1.0, orientation=[2, 0, 0, 0])])
    for ask in (carom.solve, lambda scene: carom.run(scene, until=0.1), carom.toi):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            ask(scene)
        assert said and all("<Scene>" not in str(each.message) and each.filename == __file__ for each in said)


def test_a_fixed_body_does_not_move() -> None:
    with pytest.raises(ValueError, match=r"velocity\[1\] moves a fixed body"):
        fixed = carom.Bodies(carom.Sphere(1.0), fixed=True, velocity=[[0, 0, 0], [1, 0, 0]])
        carom.toi_many(fixed, carom.Bodies(carom.Sphere(1.0), position=[4, 0, 0]), until=1.0)


def test_a_joint_is_no_shape() -> None:
    with pytest.raises(TypeError, match="Ball is no shape; there are Point, Sphere"):
        carom.Body("b", carom.Ball([0, 0, 0]), mass=1.0)  # type: ignore[arg-type]


def test_moments_are_no_tensor() -> None:
    with pytest.raises(ValueError, match="tensor"):
        carom.Bodies(carom.Sphere(1.0), inertia=np.eye(3))
    assert len(carom.Bodies(carom.Sphere(1.0), inertia=np.ones((3, 3)))) == 3


def test_forces_on_bodies_that_are_named_once() -> None:
    scene = carom.Scene(body=[carom.Body("ball", carom.Sphere(0.1), mass=1.0)])

    def push(t: float, x: Any, q: Any, v: Any, w: Any) -> Any:
        return np.tile([1.0, 0.0, 0.0], (len(x), 1))

    with pytest.raises(carom.OptionError, match="`ball` twice"):
        carom.run(scene, until=0.5, forces={("ball", "ball"): push})
    with pytest.raises(carom.OptionError, match="no body"):
        carom.run(scene, until=0.5, forces={(): push})
    with pytest.raises(ValueError, match="a force has NaN at t = 0"):
        carom.run(scene, until=0.5, forces={"ball": lambda t, x, q, v, w: x * np.nan})
    assert carom.run(scene, until=0.5, forces={"ball": push}).final.ball.velocity[0] == pytest.approx(0.5, abs=1e-14)


def test_copies_of_what_has_no_seed() -> None:
    with pytest.raises(carom.SceneError, match="no fill") as caught:
        carom.run("cases/gallery/collision.toml", replica=3)
    assert "--" not in str(caught.value)


def test_events_that_are_not_recorded_are_counted() -> None:
    found = carom.run("cases/gallery/sphere_gas.toml", until=0.2)
    assert len(found.events) == 0 and found.performance.events > 0
    assert f"{found.performance.events} events" in repr(found)


def test_options_of_the_wrong_kind() -> None:
    wrong: list[tuple[Any, dict[str, Any]]] = [
        (carom.solve, {"law": 3}),
        (carom.solve, {"tolerance": "a"}),
        (carom.solve, {"tolerance": [1.0, 2.0]}),
        (carom.solve, {"max_steps": -1}),
        (carom.solve, {"max_steps": 1.5}),
        (carom.solve, {"project": 1}),
        (carom.solve, {"screws": None}),
        (carom.solve, {"touching": "near"}),
        (carom.solve, {"order": [0, -1]}),
        (carom.solve, {"order": 7}),
        (carom.compare, {"termination": 1}),
        (carom.classify, {"span": "a"}),
        (carom.toi, {"until": "a"}),
        (carom.gap, {"at": None}),
        (carom.run, {"until": "a"}),
        (carom.run, {"replica": -1}),
        (carom.run, {"threads": -1}),
        (carom.run, {"threads": 1.5}),
        (carom.run, {"replica": 2**64}),
        (carom.run, {"loop": 1}),
        (carom.run, {"max_events": True}),
    ]
    for ask, options in wrong:
        with pytest.raises(carom.OptionError) as caught:
            ask(CORNER, **options)
        assert caught.value.field == next(iter(options)) and "Options" not in str(caught.value)
    one = carom.Ellipsoid([3, 1, 1])
    with pytest.raises(carom.OptionError, match="seed"):
        carom.paradox(one, one, seed=-1)
    with pytest.raises(carom.OptionError, match="replicas"):
        carom.run_replicas("cases/gallery/sphere_gas.toml", -2)
    assert carom.solve(CORNER, max_steps=np.int64(1000), tolerance=np.float32(1e-9)).consistent  # type: ignore[arg-type]


def test_numbers_of_numpy_in_shapes() -> None:
    one = carom.Superellipsoid(np.array([3.0, 1.0, 1.0]), np.float64(4.0))
    assert carom.paradox(carom.Sphere(np.float64(1.0)), one, planar=True).to_dict()["outcome"]


def test_documents_are_the_user_s_own() -> None:
    answer = carom.solve(CORNER)
    before = answer.to_json()
    document = answer.to_dict()
    document["law"] = "mine"
    document["bodies"]["ellipsoid"]["velocity"][0] = 99.0
    assert answer.law != "mine" and answer.bodies.ellipsoid.velocity[0] != 99.0 and answer.to_json() == before
    found = carom.run("cases/gallery/collision.toml")
    found.to_dict()["final"].clear()
    assert found.to_dict()["final"] and json.loads(found.to_json())["events"]


def test_arrays_of_other_kinds() -> None:
    with pytest.raises(ValueError, match="complex"):
        carom.Bodies(carom.Sphere(1.0), position=np.zeros((2, 3), complex))
    masked = np.ma.masked_array(np.zeros((2, 3)), mask=np.eye(2, 3))
    with pytest.raises(ValueError, match="masked"):
        carom.Bodies(carom.Sphere(1.0), position=masked)
    with pytest.raises(ValueError, match="other than zero"):
        carom.rotation([0, 0, 0, 0])
    with pytest.raises(ValueError, match=r"n\[0\] is zero"):
        carom.Sphere(1.0).support([0, 0, 0])
    with pytest.raises(ValueError, match=r"x\[1\] is zero"):
        carom.Sphere(1.0).normal([[1, 0, 0], [0, 0, 0]])


def test_vectorised_results_are_tables() -> None:
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    one = carom.Bodies(carom.Sphere(1.0))
    two = carom.Bodies(carom.Sphere(1.0), position=[4, 0, 0], velocity=[[-1.0, 0, 0], [0, 1.0, 0], [1.0, 0, 0]])
    met = carom.toi_many(one, two, until=10.0)
    for frame in (met.to_pandas(), met[:2].to_pandas()):
        assert isinstance(frame, pandas.DataFrame) and frame["type"][0] == "normal" and bool(frame["met"][0])
    assert met.to_polars()["type"].to_list() == ["normal", "apart", "apart"]
    assert polars.DataFrame(met)["met"].to_list() == [True, False, False]
    gaps = carom.gap_many(one, two)
    table = pyarrow.table(gaps)
    assert table["gap"].to_pylist() == [2.0] * 3 and table["normal_x"].to_pylist() == [1.0] * 3
    assert pyarrow.schema(gaps).names == table.column_names == gaps.to_arrow().column_names
    solved = carom.solve_many("cases/gallery/newtons_cradle.toml", velocity=np.zeros((4, 5, 3)))
    part = solved[:2]
    assert part.bodies == solved.bodies and part.contacts == solved.contacts and len(part) == 2
    frame = solved.to_pandas()
    assert frame.shape[0] == 4 and f"velocity_{solved.bodies[0]}_x" in frame
    assert pyarrow.table(solved).num_columns == frame.shape[1] == len(set(frame.columns))
    assert pickle.loads(pickle.dumps(part)).bodies == solved.bodies
    found = carom.run("cases/gallery/double_pendulum_at_a_wall.toml", until=2.0)
    some = found.samples[found.samples.moment == "sample"]
    assert pyarrow.table(some)["body"].to_pylist() == some.body.tolist() and len(some) > 0
    assert pyarrow.table(found.samples[:0]).num_rows == 0
    joints = found.joint_impulses
    assert joints is not None and pyarrow.table(joints[:1])["impulse"].to_pylist()[0] == joints[0]["impulse"].tolist()
    again = pickle.loads(pickle.dumps(found.samples))
    assert np.array_equal(again["px"], found.samples["px"])
