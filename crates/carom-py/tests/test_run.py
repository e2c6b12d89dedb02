"""Runs: the program's documents and tables, closed forms under forces of one's own, Ctrl-C, pictures."""

from __future__ import annotations

import copy
import json
import math
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

import carom
from carom.plots import energies

ROOT = Path(__file__).resolve().parents[3]
SCENES = [
    "cases/papers/paradox.toml",
    "cases/gallery/collision.toml",
    "cases/gallery/newtons_cradle.toml",
    "cases/gallery/double_pendulum_at_a_wall.toml",
]


def comparable(document: dict[str, Any]) -> dict[str, Any]:
    """Without the clock on the wall and the build's name."""
    return {key: value for key, value in document.items() if key not in ("performance", "version")}


@pytest.mark.parametrize("path", SCENES)
def test_documents_are_the_program_s(path: str, program: Callable[..., Any]) -> None:
    theirs = program("run", path, "--until", "0.5", "--sample", "0.05", "--samples")
    ours = carom.run(path, until=0.5, sample=0.05).to_dict(samples=True)
    assert json.dumps(comparable(ours)) == json.dumps(comparable(theirs))


@pytest.mark.parametrize("path", SCENES[1:])
def test_tables_are_the_program_s(path: str, program: Callable[..., Any], tmp_path: Path) -> None:
    folder = tmp_path / "run"
    program("run", path, "--until", "0.5", "-o", str(folder))
    ours, theirs = carom.run(path, until=0.5), carom.load(folder)
    assert len(ours.events) == len(theirs.events) and len(ours.samples) == len(theirs.samples) > 0
    for name in ("events", "samples", "joint_impulses", "reactions"):
        mine, written = getattr(ours, name), getattr(theirs, name)
        if mine is None:
            assert written is None or len(written) == 0
            continue
        one, two = mine.to_arrow(), written.to_arrow()
        assert one.schema.names == two.schema.names
        for field in one.schema.names:
            assert one.schema.field(field).type == two.schema.field(field).type, field
            assert (one.schema.field(field).metadata or {}).get(b"unit") == (
                two.schema.field(field).metadata or {}
            ).get(b"unit")
            assert one.schema.field(field).nullable == two.schema.field(field).nullable
            assert one[field].to_pylist() == two[field].to_pylist(), field
            left, right = mine[field], written[field]
            if left.dtype != object and left.dtype.kind == "f":
                assert np.array_equal(left, right, equal_nan=True)
    assert theirs.bodies == ours.bodies
    assert comparable(theirs.to_dict())["final"] == comparable(ours.to_dict())["final"]


@pytest.mark.parametrize("path", [*SCENES[1:], "cases/gallery/sphere_gas.toml"])
def test_a_saved_run_is_the_program_s(path: str, program: Callable[..., Any], tmp_path: Path) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    program("run", path, "--until", "0.3", "-o", str(theirs))
    found = carom.run(path, until=0.3)
    assert found.save(ours) == ours
    names = sorted(each.name for each in theirs.iterdir())
    assert names == sorted(each.name for each in ours.iterdir())
    for name in names:
        written, wanted = (ours / name).read_bytes(), (theirs / name).read_bytes()
        if name == "run.json":
            mine, other = json.loads(written), json.loads(wanted)
            assert json.dumps(comparable(mine)) == json.dumps(comparable(other))
            assert mine["version"] == other["version"] == found.version
        else:
            assert written == wanted, name
    with pytest.raises(FileExistsError, match="force"):
        found.save(ours)
    (ours / "mine.txt").write_text("stays")
    (ours / "events-00001.parquet").write_bytes(b"goes")
    found.save(ours, force=True)
    assert sorted(each.name for each in ours.iterdir()) == sorted([*names, "mine.txt"])
    again = carom.load(ours)
    document = comparable(again.to_dict(samples=True))
    assert document.pop("rows")["events"] == len(found.events)
    assert document == comparable(found.to_dict(samples=True))


def test_a_saved_run_is_drawn(tmp_path: Path, binary: str) -> None:
    folder = carom.run("cases/gallery/double_pendulum_at_a_wall.toml", until=1.0).save(tmp_path / "run")
    subprocess.run([binary, "plot", str(folder), "--out", str(tmp_path / "plot.svg")], check=True)
    assert (tmp_path / "plot.svg").stat().st_size > 1000


@pytest.mark.parametrize("path", ["cases/gallery/double_pendulum_at_a_wall.toml", "cases/gallery/sphere_gas.toml"])
def test_a_recording_is_pickled(path: str, tmp_path: Path) -> None:
    found = carom.run(path, until=1.0)
    for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert again.to_dict(samples=True) == found.to_dict(samples=True)
        assert again.bodies == found.bodies and again.version == found.version
        assert (again.joint_impulses is None) == (found.joint_impulses is None)
        again.save(tmp_path / "again", force=True)
        found.save(tmp_path / "found", force=True)
        for each in (tmp_path / "found").iterdir():
            assert (tmp_path / "again" / each.name).read_bytes() == each.read_bytes()


def test_broken_folders(tmp_path: Path) -> None:
    carom.run("cases/gallery/collision.toml").save(tmp_path)
    for name, words in (("events.parquet", "events.parquet"), ("run.json", "run.json"), ("scene.toml", "scene.toml")):
        kept = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(b"nothing of the kind")
        with pytest.raises(ValueError, match=words):
            carom.load(tmp_path)
        (tmp_path / name).write_bytes(kept)
    (tmp_path / "scene.toml").unlink()
    with pytest.raises(ValueError, match="no scene.toml"):
        carom.load(tmp_path)


def test_the_version_is_the_program_s(binary: str) -> None:
    said = subprocess.run([binary, "--version"], check=True, capture_output=True, text=True).stdout
    version = carom.run("cases/gallery/collision.toml").version
    assert said.strip() == f"carom {version}"
    assert re.fullmatch(re.escape(carom.__version__) + r" \((unknown|[0-9a-f]{7,})\)", version)


def test_arrow_without_copies() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    found = carom.run("cases/gallery/collision.toml")
    first, second = (pyarrow.table(found.samples) for _ in range(2))
    # Both look at the memory that the run left.
    places = [table["px"].chunk(0).buffers()[1].address for table in (first, second)]
    assert places[0] == places[1]
    kept = first["px"].to_pylist()
    del found, second
    assert first["px"].to_pylist() == kept
    assert pyarrow.schema(carom.run("cases/gallery/collision.toml").events).names[:2] == ["number", "time"]


def test_tables_for_pandas_and_polars() -> None:
    found = carom.run("cases/gallery/newtons_cradle.toml", until=1.0)
    assert len(found.events) > 0
    frame, polar = found.events.to_pandas(), found.events.to_polars()
    assert frame["time"].tolist() == polar["time"].to_list() == found.events.time.tolist()
    assert frame["kind"].tolist() == found.events.kind.tolist()
    row = found.events[0]
    assert row["kind"] == "impact" and next(iter(found.events))["time"] == row["time"]
    assert len(found.events[found.events.impulse > 0]) > 0
    assert "<table>" in found.events._repr_html_() and "events" in repr(found)


def test_a_force_of_ones_own() -> None:
    """x'' = −ω² x + (F/m) cos Ωt, and a torque: closed forms. The audit knows the work of the force."""
    rate, drive, strength, mass = 3.0, 2.0, 0.7, 1.5
    scene = carom.Scene(
        body=[
            carom.Body("ball", carom.Sphere(0.1), mass=mass, position=[1, 0, 0]),
            carom.Body("other", carom.Sphere(0.1), mass=1.0, position=[0, 5, 0]),
        ]
    )

    def pull(t: float, x: Any, q: Any, v: Any, w: Any) -> Any:
        force = -mass * rate**2 * x
        force[0, 1] += strength * math.cos(drive * t)
        return force, np.array([[0.0, 0.0, 0.01]])

    found = carom.run(scene, until=10.0, sample=1.0, forces={"ball": pull})
    times, states = found.trajectory("ball")
    assert np.abs(states.position[:, 0] - np.cos(rate * times)).max() <= 1e-12
    swing = strength / mass / (rate**2 - drive**2) * (np.cos(drive * times) - np.cos(rate * times))
    assert np.abs(states.position[:, 1] - swing).max() <= 1e-12
    inertia = mass * 0.4 * 0.1**2
    assert np.abs(states.angular_velocity[:, 2] - 0.01 / inertia * times).max() <= 1e-10
    assert found.audit.energy_error_max <= 1e-11
    # Two bodies under one function: they attract each other, and momentum is kept.
    seen = set()

    def spring(t: float, x: Any, q: Any, v: Any, w: Any) -> Any:
        seen.add((x.shape, q.shape, v.shape, w.shape))
        apart = x[1] - x[0]
        return np.stack([apart, -apart])

    found = carom.run(scene, until=1.0, forces={("ball", "other"): spring})
    momentum = mass * found.final.ball.velocity + found.final.other.velocity
    assert np.abs(momentum).max() <= 1e-13 and seen == {((2, 3), (2, 4), (2, 3), (2, 3))}


def test_exceptions_of_a_force() -> None:
    scene = carom.Scene(body=[carom.Body("ball", carom.Sphere(0.1), mass=1.0)])

    def wrong(t: float, x: Any, q: Any, v: Any, w: Any) -> Any:
        if t > 0.5:
            raise RuntimeError("mine")
        return 0 * x

    with pytest.raises(RuntimeError, match="mine"):
        carom.run(scene, forces={"ball": wrong})
    with pytest.raises(ValueError):
        carom.run(scene, forces={"ball": lambda t, x, q, v, w: [1.0, 2.0]})
    with pytest.raises(ValueError, match="finite"):
        carom.run(scene, forces={"ball": lambda t, x, q, v, w: x * np.nan})
    with pytest.raises(carom.OptionError, match="no body `bal`"):
        carom.run(scene, forces={"bal": wrong})


def test_options_and_input_errors() -> None:
    path = "cases/gallery/newtons_cradle.toml"
    assert len(np.unique(carom.run(path, max_events=2).events.number)) == 2
    assert carom.run("cases/papers/paradox.toml", on_paradox="stop").stopped == "paradox"
    for options in (
        {"until": -1.0},
        {"sample": float("nan")},
        {"on_paradox": "no"},
        {"loop": "round"},
        {"max_events": 0},
    ):
        with pytest.raises(carom.OptionError):
            carom.run(path, **options)  # type: ignore[arg-type]
    with pytest.raises(carom.SceneError):
        carom.run("carom = 1\n[[body]]\n")
    with pytest.raises(FileNotFoundError, match="no run.json"):
        carom.load("cases")
    with pytest.raises(KeyError, match="no samples of nobody"):
        carom.run(path, until=0.1).trajectory("nobody")


def test_a_gas_has_observables() -> None:
    found = carom.run("cases/gallery/sphere_gas.toml", until=0.5, replica=3)
    assert found.observables.compressibility.mean > 1.0
    assert len(found.bodies) == len(found.to_dict()["final"]) > 50


def test_copies_are_the_program_s(program: Callable[..., Any]) -> None:
    path = "cases/gallery/sphere_gas.toml"
    theirs = comparable(program("run", path, "--until", "0.3", "--replicas", "3"))
    seen: list[tuple[int, int]] = []
    ours = comparable(carom.run_replicas(path, 3, until=0.3, progress=lambda k, n: seen.append((k, n))).to_dict())
    for document in (ours, theirs):
        for each in document["replicas"]:
            del each["wall_s"]
    assert json.dumps(ours) == json.dumps(theirs)
    assert seen == sorted(seen)
    with pytest.raises(carom.SceneError, match="no fill"):
        carom.run_replicas("cases/gallery/collision.toml", 2)
    with pytest.raises(carom.OptionError, match="replicas"):
        carom.run_replicas(path, 0)


def test_progress() -> None:
    seen: list[tuple[float, float]] = []
    carom.run("cases/gallery/collision.toml", progress=lambda t, until: seen.append((t, until)))
    assert seen == sorted(seen) and seen[-1] == (0.6, 0.6)


INTERRUPTED = """
import carom
found = carom.run("cases/gallery/box.toml", until=1e9, max_events=10**9, sample=0, progress=lambda t, until: print(t, flush=True))
print("stopped", found.stopped, len(found.events) > 0, flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_ends_a_run_with_what_was_reached() -> None:
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    float(process.stdout.readline())
    start = time.perf_counter()
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and rest.endswith("stopped interrupted True\n"), rest
    assert time.perf_counter() - start < 20.0


def test_runs_work_side_by_side() -> None:
    """Two threads are in `run` at once: each waits there for the other. What they find is what one after the other finds."""
    inside = threading.Barrier(2, timeout=60)
    met = [0, 0]

    def work(k: int) -> carom.Recording:
        def told(reached: float, until: float) -> None:
            if met[k] == 0:
                met[k] = 1
                inside.wait()

        return carom.run("cases/gallery/box.toml", until=0.5, max_events=50, progress=told)

    with ThreadPoolExecutor(2) as pool:
        one, two = pool.map(work, range(2))
    assert met == [1, 1]
    assert one.to_dict()["final"] == two.to_dict()["final"] == work(0).to_dict()["final"]


def test_pictures(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib").use("agg")
    found = carom.run("cases/gallery/collision.toml")
    figure = found.plot()
    assert [axis.get_ylabel().split(" /")[0] for axis in figure.axes] == ["position", "velocity", "energy"]
    total = [line for line in figure.axes[2].lines if line.get_label() == "total"][0].get_ydata()
    assert np.ptp(total) <= 1e-12 * np.abs(total).max()
    found.plot("angular_velocity").savefig(tmp_path / "run.png")
    with pytest.raises(ValueError, match="nothing to plot is called colour"):
        found.plot("colour")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="nothing is to be plotted"):
        found.plot([])
    with pytest.raises(ValueError, match="no samples"):
        carom.run("cases/gallery/dropping_ellipsoid.toml", until=0.1, sample=0).plot()


def test_energies_have_the_potential_of_springs() -> None:
    text = Path("cases/gallery/spring_at_a_wall.toml").read_text().replace("damping = 0.5", "damping = 0")
    found = carom.run(text, until=0.3)
    times, parts = energies(found)
    assert list(parts) == ["translation", "rotation", "height", "loads", "total"]
    before = times < found.events.time[0]
    assert parts["loads"][0] == 5.0 and parts["total"][before] == pytest.approx(found.events.energy_before[0], rel=1e-13)


def test_pictures_show_what_happens() -> None:
    """Velocities jump at impacts; every panel has a legend however many the bodies."""
    pytest.importorskip("matplotlib").use("agg")
    ball = carom.Body("ball", carom.Sphere(0.5), mass=1.0, position=[0, 0, 1.0], velocity=[0, 0, -1])
    scene = carom.Scene(body=[ball], plane=[carom.Plane("floor", normal=[0, 0, 1])])
    found = carom.run(scene, until=1.0, sample=0.3)
    line = next(line for line in found.plot("velocity").axes[0].lines if line.get_label() == "ball z")
    times, speeds = line.get_data()
    assert times[speeds == -1.0].max() == times[speeds == 1.0].min() == pytest.approx(0.5, abs=1e-15)
    cradle = carom.run("cases/gallery/newtons_cradle.toml", until=0.5)
    assert all(axis.get_legend() is not None for axis in cradle.plot().axes)
    rocking = carom.run("cases/papers/paradox.toml", until=1.0)
    marks = [line for line in rocking.plot("position").axes[0].lines if not isinstance(line.get_xdata(), np.ndarray)]
    assert len(rocking.events) == 2 and not marks


def test_without_matplotlib_and_pyarrow() -> None:
    code = """
import sys
sys.modules["matplotlib"] = sys.modules["matplotlib.pyplot"] = sys.modules["pyarrow"] = sys.modules["pyarrow.parquet"] = None
sys.modules["pandas"] = sys.modules["polars"] = None
import carom
found = carom.run("cases/gallery/collision.toml")
assert found.events.impulse[0] > 0 and found.events.kind.tolist() == ["impact"]
for ask, words in (
    (found.plot, "pip install matplotlib"),
    (found.events.to_arrow, "pip install pyarrow"),
    (found.events.to_pandas, "pip install pandas"),
    (found.events.to_polars, "pip install polars"),
):
    try:
        ask()
    except ImportError as error:
        assert words in str(error)
    else:
        raise AssertionError(words)
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


GAS = carom.Scene(
    fill=[carom.Fill("gas", 200, carom.Sphere(0.5), mass=1.0, packing_fraction=0.3, temperature=1.0, seed=5)],
    surface=carom.Surface(restitution=1.0),
)


def test_replicas_keep_what_was_reached() -> None:
    """Ctrl-C with many more copies than cores: those that had begun are pooled, and nothing is lost."""
    seen: list[int] = []

    def tell(done: int, whole: int) -> None:
        seen.append(done)
        if done >= 2:
            signal.raise_signal(signal.SIGINT)

    found = carom.run_replicas(GAS, 64, until=0.5, progress=tell)
    assert 2 <= len(found.replicas) < 64, len(found.replicas)
    assert found.observables.compressibility.mean > 1


def test_a_run_by_another_law() -> None:
    """What the option says is what the scene could say."""
    ball = carom.Body("ball", carom.Sphere(1.0), mass=1.0, position=[2, 0, 2], velocity=[-1, 0, -1])
    planes = [carom.Plane("ramp", normal=[1, 0, 0.5]), carom.Plane("floor", normal=[0, 0, 1])]
    scene = carom.Scene(body=[ball], plane=list(planes), surface=carom.Surface(restitution=0.5))
    asked = carom.run(scene, until=2.0, sample=0.0, law="poisson")
    scene.impact = carom.Impact(law="poisson")
    said = carom.run(scene, until=2.0, sample=0.0)
    assert asked.to_dict()["final"] == said.to_dict()["final"] and len(said.events) > 0
    assert asked.law == "poisson" and asked.settings.law == "poisson" and "law" not in said.settings
    with pytest.raises(carom.OptionError, match="newton_lcp"):
        carom.run(scene, law="magic")  # type: ignore[arg-type]


def test_many_runs_are_those_of_one() -> None:
    def drop(k: int) -> carom.Scene:
        ball = carom.Body("ball", carom.Ellipsoid([0.3, 0.4, 0.5]), mass=1.0, position=[0, 0, 2], angular_velocity=[1.0, k, 0])
        world = carom.World(gravity=[0, 0, -9.81])
        return carom.Scene(world=world, body=[ball], plane=[carom.Plane("floor", normal=[0, 0, 1])])

    told: list[tuple[int, int]] = []
    found = carom.run_many(map(drop, range(5)), until=1.0, sample=0.0, progress=lambda done, whole: told.append((done, whole)))
    assert told == [(k, 5) for k in range(1, 6)]
    for k, each in enumerate(found):
        assert each.to_dict()["final"] == carom.run(drop(k), until=1.0, sample=0.0).to_dict()["final"]
    with pytest.raises(carom.SceneError):
        carom.run_many([drop(0), {"carom": 1}], until=1.0)
    with pytest.raises(carom.OptionError, match="threads"):
        carom.run_many([], threads=0)


def test_progress_is_shown(capfd: pytest.CaptureFixture[str]) -> None:
    carom.run_replicas(GAS, 2, until=0.05, progress=True)
    assert "100%" in capfd.readouterr().err
    with pytest.raises(carom.OptionError, match="progress"):
        carom.run(GAS, progress="yes")  # type: ignore[arg-type]


def test_xarray() -> None:
    bodies = [
        carom.Body("a", carom.Sphere(0.1), mass=1.0, velocity=[1, 0, 0]),
        carom.Body("b", carom.Sphere(0.1), mass=1.0, position=[0, 5, 0], angular_velocity=[0, 0, 2.0]),
    ]
    found = carom.run(carom.Scene(title="two", body=list(bodies)), until=1.0, sample=0.25).to_xarray()
    assert dict(found.sizes) == {"time": 5, "body": 2, "axis": 3, "quaternion": 4}
    assert found.position.sel(body="a", axis="x").values.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert found.angular_velocity.sel(body="b", time=0.5).values.tolist() == [0.0, 0.0, 2.0]
    assert found.attrs["title"] == "two" and found.position.attrs["units"] == "m"


@pytest.mark.parametrize("path", sorted((ROOT / "cases/gallery").glob("*.toml")), ids=lambda path: path.stem)
def test_scenes_are_written_as_they_are(path: Path, tmp_path: Path) -> None:
    scene = carom.Scene.of(path)
    again = tmp_path / "scene.toml"
    scene.save(again)
    assert carom.Scene.of(again).to_dict() == scene.to_dict()
    with pytest.raises(FileExistsError):
        scene.save(again)
    assert carom.Scene.of(scene.save(tmp_path / "scene.json")).to_dict() == scene.to_dict()
