"""Many pairs in one call: the program's numbers, without Python's lock, ended by Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import tomllib
from typing import Any, Callable

import numpy as np
import pytest

import carom


def random_scene(seed: int, count: int, periodic: bool) -> dict[str, Any]:
    """Bodies of all shapes flying at a common middle, above a plane."""
    rng = np.random.default_rng(seed)
    bodies = []
    for k in range(count):
        place = rng.normal(size=3)
        place *= (4.0 + 2.0 * k) / np.linalg.norm(place)
        axes = (0.3 * 2.0 ** rng.uniform(0, 1, 3)).tolist()
        shape = [
            {"sphere": {"radius": axes[0]}},
            {"ellipsoid": {"semi_axes": axes}},
            {"superellipsoid": {"semi_axes": axes, "exponent": float(rng.choice([2.5, 4.0, 10.0]))}},
        ][k % 3]
        bodies.append(
            {
                "name": f"b{k}",
                "shape": shape,
                "mass": float(rng.uniform(0.5, 2)),
                "position": place.tolist(),
                "orientation": rng.normal(size=4).tolist(),
                "velocity": (-place + 0.2 * rng.normal(size=3)).tolist(),
                "angular_velocity": rng.uniform(-2, 2, 3).tolist(),
            }
        )
    world: dict[str, Any] = {"gravity": [0.0, 0.1, -0.3]}
    plane = [{"name": "floor", "normal": [0.1, -0.2, 1.0], "offset": -60.0}]
    if periodic:
        world["periodic"] = [70.0, 0.0, 65.0]
        plane = []
    return {"carom": 1, "world": world, "body": bodies, "plane": plane, "run": {"until": 9.0}}


def arrays(scene: dict[str, Any], chosen: list[int]) -> carom.Bodies:
    shapes: list[carom.Shape] = []
    bodies = [scene["body"][k] for k in chosen]
    for body in bodies:
        kind, given = next(iter(body["shape"].items()))
        classes: dict[str, Any] = {
            "sphere": carom.Sphere,
            "ellipsoid": carom.Ellipsoid,
            "superellipsoid": carom.Superellipsoid,
        }
        shapes.append(classes[kind](**given))

    def gather(name: str) -> Any:
        return np.array([body[name] for body in bodies])

    return carom.Bodies(
        shapes,
        position=gather("position"),
        orientation=gather("orientation"),
        velocity=gather("velocity"),
        angular_velocity=gather("angular_velocity"),
        mass=gather("mass"),
    )


def check_column(ours: Any, theirs: list[dict[str, Any]], name: str) -> None:
    for k, pair in enumerate(theirs):
        value = pair[name]
        if value is None:
            assert np.isnan(ours[k]).all()
        else:
            assert np.asarray(ours[k]).tolist() == value, (name, k)


@pytest.mark.filterwarnings("ignore::carom.SceneWarning")
@pytest.mark.parametrize("periodic", [False, True])
def test_first_contacts_and_gaps_are_the_program_s(periodic: bool, program: Callable[..., Any]) -> None:
    count = 12
    scene = random_scene(7, count, periodic)
    names = {f"b{k}": k for k in range(count)}
    text = json.dumps(scene)
    met = 0
    for command in ("toi", "gap"):
        pairs = [p for p in program(command, "-", stdin=text)["pairs"] if p["bodies"][0] != p["bodies"][1]]
        with_plane = [pair for pair in pairs if pair["bodies"][0] == "floor"]
        free = [pair for pair in pairs if pair["bodies"][0] != "floor"]
        assert len(free) == count * (count - 1) // 2
        plane = carom.Plane("floor", normal=[0.1, -0.2, 1.0], offset=-60.0)
        groups: list[tuple[Any, list[dict[str, Any]]]] = [
            (arrays(scene, [names[pair["bodies"][0]] for pair in free]), free)
        ]
        if with_plane:
            groups.append((plane, with_plane))
        for first, theirs in groups:
            second = arrays(scene, [names[pair["bodies"][1]] for pair in theirs])
            box = scene["world"].get("periodic") if first is not plane else None
            if command == "gap":
                gaps = carom.gap_many(first, second, at=0.0, gravity=scene["world"]["gravity"], periodic=box)
                for name in ("gap", "normal", "iterations"):
                    check_column(gaps[name], theirs, name)
                assert [[a.tolist(), b.tolist()] for a, b in zip(gaps.on_first, gaps.on_second)] == [
                    pair["points"] for pair in theirs
                ]
                if box:
                    check_column(gaps.image, theirs, "image")
                continue
            found = carom.toi_many(first, second, until=9.0, gravity=scene["world"]["gravity"], periodic=box)
            for name in ("time", "time_error", "searched_until", "gap", "normal", "point", "approach", "evaluations"):
                check_column(found[name], theirs, name)
            if box:
                check_column(found.image, theirs, "image")
            types = [pair["type"] or "apart" for pair in theirs]
            assert found.type.tolist() == types
            assert found.met.tolist() == [pair["time"] is not None for pair in theirs]
            met += int(found.met.sum())
    assert met > 20


def test_a_touch_without_approach_is_sharpened_and_named(program: Callable[..., Any]) -> None:
    for path in ("cases/gallery/graze.toml", "cases/papers/paradox.toml"):
        theirs = program("toi", path)["pairs"]
        ours = carom.toi(path)
        assert theirs[0]["type"] not in (None, "normal")
        assert ours.to_dict()["pairs"] == theirs
    # The same through arrays: two balls that pass at the distance of their radii.
    one = carom.Bodies(carom.Sphere(1.0))
    two = carom.Bodies(carom.Sphere(1.0), position=[-3.0, 2.0, 0.0], velocity=[1.0, 0.0, 0.0])
    found = carom.toi_many(one, two, until=10.0)
    assert found.type.tolist() == ["graze"]
    assert abs(found.time[0] - 3.0) <= found.time_error[0] < 1e-6
    assert 3.0 - 1e-6 < found.first_zero[0] < 3.0 and found.searched_until[0] == found.time[0]


def test_strikes_are_those_of_solve() -> None:
    rng = np.random.default_rng(3)
    count = 40
    axes = rng.uniform(0.5, 2, (2, count, 3))
    turns, velocities, spins = (
        rng.normal(size=(2, count, 4)),
        rng.normal(size=(2, count, 3)),
        rng.normal(size=(2, count, 3)),
    )
    masses, normals = rng.uniform(0.5, 2, (2, count)), rng.normal(size=(count, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    points, restitution = rng.normal(size=(count, 3)), rng.uniform(0, 1, count)
    # Both bodies have the point on their surfaces, with the normal there.
    places = np.empty((2, count, 3))
    for k, sign in enumerate((1.0, -1.0)):
        matrices = carom.rotation(turns[k])
        for i in range(count):
            support = carom.Ellipsoid(axes[k, i]).support(sign * (matrices[i].T @ normals[i]))
            places[k, i] = points[i] - matrices[i] @ support
    sides = [
        carom.Bodies(
            carom.Ellipsoid(axes[k]),
            position=places[k],
            orientation=turns[k],
            velocity=velocities[k],
            angular_velocity=spins[k],
            mass=masses[k],
        )
        for k in range(2)
    ]
    struck = carom.strike_many(sides[0], sides[1], point=points, normal=normals, restitution=restitution)
    closing = 0
    for i in range(count):
        scene = carom.Scene(
            body=[
                carom.Body(
                    name,
                    carom.Ellipsoid(axes[k, i]),
                    mass=masses[k, i],
                    position=places[k, i],
                    orientation=turns[k, i] / np.linalg.norm(turns[k, i]),
                    velocity=velocities[k, i],
                    angular_velocity=spins[k, i],
                )
                for k, name in enumerate(["one", "two"])
            ],
            contact=[carom.Contact(["one", "two"], points[i], normals[i], restitution=restitution[i])],
        )
        answer = carom.solve(scene)
        size = max(1.0, answer.contacts[0].impulse)
        assert abs(struck.impulse[i] - answer.contacts[0].impulse) <= 1e-13 * size
        for side, name in (("first", "one"), ("second", "two")):
            assert np.abs(struck[f"{side}_velocity"][i] - answer.bodies[name].velocity).max() <= 1e-13 * size
            turned = struck[f"{side}_angular_velocity"][i] - answer.bodies[name].angular_velocity
            assert np.abs(turned).max() <= 1e-12 * size
        assert abs(struck.energy_change[i] + answer.energy.loss) <= 1e-12 * size
        closing += answer.contacts[0].approach < 0
    assert closing > 10


def test_many_velocities_of_one_scene_are_those_of_solve() -> None:
    path = "cases/papers/sp_corner.toml"
    plain = carom.solve(path)
    rng = np.random.default_rng(5)
    velocities = rng.normal(size=(300, 1, 3)) - 1.0
    for law in ("newton_lcp", "poisson", "sequential"):
        found = carom.solve_many(path, velocity=velocities, law=law)
        assert found.bodies == ["ellipsoid"] and found.contacts == list(plain.contacts.column("name"))
        scene = carom.scene.read(path).text
        for i in range(0, 300, 60):
            document = tomllib.loads(scene)
            document["body"][0]["velocity"] = velocities[i, 0].tolist()
            answer = carom.solve(document, law=law)
            assert found.velocity[i, 0].tolist() == answer.bodies.ellipsoid.velocity.tolist()
            assert found.impulse[i].tolist() == answer.contacts.column("impulse").tolist()
            assert found.admissible[i] == answer.admissible


def big(count: int) -> tuple[carom.Bodies, carom.Bodies]:
    rng = np.random.default_rng(0)
    away = rng.normal(size=(count, 3))
    away /= np.linalg.norm(away, axis=1, keepdims=True)

    def side(place: Any, speed: Any) -> carom.Bodies:
        return carom.Bodies(
            carom.Ellipsoid(2.0 ** rng.uniform(-1, 1, (count, 3))),
            position=place,
            orientation=rng.normal(size=(count, 4)),
            velocity=rng.uniform(-0.5, 0.5, (count, 3)) - speed,
            angular_velocity=rng.uniform(-3, 3, (count, 3)),
        )

    return side((0.0, 0.0, 0.0), 0.0), side(4.5 * away, 3.0 * away)


def test_arrays_are_used_where_they_are_and_answers_are_not_copied() -> None:
    places = np.zeros((10, 3))
    bodies = carom.Bodies(carom.Sphere(1.0), position=places)
    assert bodies.position is places or np.shares_memory(bodies.position, places)
    swapped = np.asfortranarray(np.zeros((10, 3)))
    assert not np.shares_memory(carom.Bodies(carom.Sphere(1.0), position=swapped).position, swapped)
    read_only = np.zeros((10, 3))
    read_only.flags.writeable = False
    gaps = carom.gap_many(bodies, carom.Bodies(carom.Sphere(1.0), position=read_only))
    assert gaps.gap.flags["C_CONTIGUOUS"] and gaps.normal.base is not None


def test_the_lock_is_released() -> None:
    """Another thread goes on counting while pairs are searched."""
    one, two = big(20_000)
    counted, done = 0, threading.Event()
    lapses = []

    def count() -> None:
        nonlocal counted
        last = time.perf_counter()
        while not done.is_set():
            time.sleep(0.001)
            now = time.perf_counter()
            lapses.append(now - last)
            last = now
            counted += 1

    thread = threading.Thread(target=count)
    thread.start()
    start = time.perf_counter()
    carom.toi_many(one, two, until=2.0)
    took = time.perf_counter() - start
    done.set()
    thread.join()
    # With the lock held it would stand still for the whole call.
    assert counted > 3 and max(lapses) < 0.8 * took


def test_progress_is_called_in_order_and_its_exceptions_end_the_call() -> None:
    one, two = big(5000)
    seen: list[tuple[int, int]] = []
    carom.toi_many(one, two, until=2.0, progress=lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen) and seen[-1] == (5000, 5000) and len(seen) > 1

    def enough(done: int, total: int) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        carom.toi_many(one, two, until=2.0, progress=enough)


INTERRUPTED = """
import numpy as np, carom, sys
count = 2_000_000
rng = np.random.default_rng(0)
away = rng.normal(size=(count, 3))
away /= np.linalg.norm(away, axis=1, keepdims=True)
one = carom.Bodies(carom.Superellipsoid([1.0, 1.5, 2.0], 6.0), angular_velocity=[1.0, 2.0, 3.0])
two = carom.Bodies(carom.Ellipsoid([1.0, 1.5, 2.0]), position=4.5 * away, velocity=-3.0 * away)
def progress(done, total):
    print(done, flush=True)
try:
    carom.toi_many(one, two, until=2.0, progress=progress)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(7)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_ends_a_call() -> None:
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline().strip().isdigit()
    start = time.perf_counter()
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=30)
    assert process.returncode == 7 and rest.endswith("interrupted\n")
    assert time.perf_counter() - start < 5.0


def test_what_has_no_meaning_is_named() -> None:
    ball = carom.Sphere(1.0)
    places = np.zeros((4, 3))
    places[2, 1] = np.nan
    good = carom.Bodies(ball, position=[5.0, 0.0, 0.0])
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"position": places}, r"position\[2\]\[1\] is nan, expected finite numbers"),
        ({"orientation": [0.0, 0.0, 0.0, 0.0]}, "orientation is zero"),
        ({"orientation": [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]}, r"orientation\[1\] is zero"),
        ({"inertia": [1.0, 1.0, 3.0]}, r"triangle inequality: 3\.0 > 1\.0 \+ 1\.0"),
        ({"mass": [1.0, 0.0]}, r"mass\[1\] is 0\.0, expected a finite number greater than 0"),
    ]
    for given, words in wrong:
        with pytest.raises(ValueError, match=words):
            carom.Bodies(ball, **given)
    for bodies, words in [
        (carom.Bodies(carom.Sphere([1.0, -1.0])), r"radius\[1\] has -1"),
        (carom.Bodies(carom.Ellipsoid([1.0, 0.0, 1.0])), r"semi_axes\[0\] has 0"),
        (carom.Bodies(carom.Superellipsoid([1, 1, 1], [2.0, 1.5])), r"exponent\[1\] is 1.5"),
    ]:
        with pytest.raises(ValueError, match=words):
            carom.gap_many(good, bodies)
    for bodies, words in [
        (carom.Bodies(carom.Point()), "give `inertia`"),
    ]:
        with pytest.raises(ValueError, match=words):
            carom.toi_many(good, bodies, until=1.0)
    with pytest.raises(ValueError, match="until"):
        carom.toi_many(good, good, until=-1.0)
    with pytest.raises(ValueError, match="numbers of rows differ"):
        carom.gap_many(carom.Bodies(ball, position=np.zeros((2, 3))), carom.Bodies(ball, position=np.zeros((3, 3))))
    with pytest.raises(ValueError, match=r"expected \(3,\) or \(n, 3\)"):
        carom.Bodies(ball, position=[1.0, 2.0])
    with pytest.raises(TypeError, match="expected Bodies"):
        carom.gap_many("ball", good)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="restitution"):
        carom.strike_many(good, good, point=[0, 0, 0], normal=[1, 0, 0], restitution=1.5)
    with pytest.raises(ValueError, match="zero and no direction"):
        carom.strike_many(good, good, point=[0, 0, 0], normal=[0, 0, 0])
    apart = carom.Bodies(ball, position=[2.5, 0, 0])
    with pytest.raises(ValueError, match="off its surface"):
        carom.strike_many(good, apart, point=[1.25, 0, 0], normal=[1, 0, 0])
    with pytest.raises(ValueError, match="the first body's size off its surface"):
        carom.strike_many(good, apart, point=[1, 0, 0], normal=[0, 1, 0])
    for wrong, words in [
        ({"mass": [1.0, -1.0]}, r"mass\[1\] is -1.0, expected a finite number"),
        ({"velocity": [0, np.nan, 0]}, r"velocity\[1\] is nan"),
        ({"orientation": [0, 0, 0, 0]}, "orientation is zero"),
        ({"inertia": [1.0, 1.0, 3.0]}, "triangle inequality"),
    ]:
        with pytest.raises(ValueError, match=words):
            carom.Bodies(ball, **wrong)  # type: ignore[arg-type]


def test_no_pairs_are_no_trouble() -> None:
    none = carom.Bodies(carom.Sphere(1.0), position=np.zeros((0, 3)))
    assert len(carom.gap_many(none, none)) == 0
    assert carom.toi_many(none, none, until=1.0).normal.shape == (0, 3)


def test_tables() -> None:
    one, two = big(30)
    found = carom.toi_many(one, two, until=2.0)
    assert found[found.met].met.all() and found[3]["time"] == found.time[3]
    assert "and 10 more" in found._repr_html_()
    frame = found.to_pandas()
    assert frame.shape[0] == 30 and {"time", "normal_x", "point_z"} <= set(frame.columns)
    assert set(found.columns) <= set(dir(found))


def test_scattering_is_one_call() -> None:
    """`toi_many(…).strike(…)` is what a run of each pair gives: the trap was to strike bodies where they started."""
    rng = np.random.default_rng(11)
    count = 40
    axes = rng.uniform(0.5, 1.5, (2, count, 3))
    turns, spins = rng.normal(size=(2, count, 4)), rng.normal(size=(2, count, 3))
    masses, restitution = rng.uniform(0.5, 2.0, (2, count)), rng.uniform(0.0, 1.0, count)
    places = np.stack([np.zeros((count, 3)), rng.normal(size=(count, 3)) + [5.0, 0.0, 0.0]])
    velocities = np.stack([np.zeros((count, 3)), np.tile([-1.0, 0.0, 0.0], (count, 1))])
    pull = np.array([0.0, 0.1, -0.2])
    one, two = (
        carom.Bodies(
            carom.Ellipsoid(axes[k]), position=places[k], orientation=turns[k], velocity=velocities[k], angular_velocity=spins[k],
            mass=masses[k],
        )
        for k in range(2)
    )  # fmt: skip
    found = carom.toi_many(one, two, until=6.0, gravity=pull)
    struck = found.strike(restitution)
    assert 5 < found.met.sum() < count
    for i in range(count):
        bodies = [
            carom.Body(
                name,
                carom.Ellipsoid(axes[k, i]),
                mass=masses[k, i],
                position=places[k, i],
                orientation=turns[k, i] / np.linalg.norm(turns[k, i]),
                velocity=velocities[k, i],
                angular_velocity=spins[k, i],
            )
            for k, name in enumerate(["one", "two"])
        ]
        scene = carom.Scene(
            world=carom.World(gravity=pull), body=list(bodies), surface=carom.Surface(restitution=float(restitution[i]))
        )
        ran = carom.run(scene, until=6.0, sample=0.0, max_events=1)
        if not found.met[i]:
            assert len(ran.events) == 0 and struck.impulse[i] == 0.0 and np.isnan(struck.approach[i])
            continue
        assert abs(ran.events.impulse[0] - struck.impulse[i]) < 1e-9 * struck.impulse[i]
        assert np.abs(ran.final["one"].velocity - struck.first_velocity[i]).max() < 1e-9
        assert np.abs(ran.final["two"].angular_velocity - struck.second_angular_velocity[i]).max() < 1e-9
    # Flown bodies strike as their contacts do.
    met = found.met
    times = np.where(met, found.time, 0.0)
    flown = carom.fly_many(one, times, gravity=pull), carom.fly_many(two, times, gravity=pull)
    again = carom.gap_many(*flown).gap[met]
    assert np.abs(again).max() < 1e-9
    with pytest.raises(ValueError, match="lost their bodies"):
        found[met].strike()
