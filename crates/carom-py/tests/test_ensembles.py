"""Sweeps and scatterings: the same bits on threads, on processes and on a cluster that loses a worker."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

import carom
from carom.ensembles import Sweep

PEGS = "cases/ensembles/pegs.toml"
RODS = "cases/ensembles/rods.toml"


def assert_same(one: Sweep, two: Sweep) -> None:
    """Every column, to the bit."""
    assert one.columns == two.columns
    for name in one.columns:
        left, right = one[name], two[name]
        if left.dtype.kind == "U":
            assert left.tolist() == right.tolist(), name
        else:
            assert left.dtype == right.dtype and left.tobytes() == right.tobytes(), name


@pytest.fixture(scope="module")
def local() -> Sweep:
    return carom.sweep(Path(__file__).resolve().parents[3] / PEGS, {"body.ball.position[0]": "grid(-0.1, 0.1, 11)"})


def test_the_rows_are_those_of_the_program(binary: str, tmp_path: Path) -> None:
    import pyarrow.parquet

    done = [binary, "sweep", PEGS, "-o", str(tmp_path), "--samples", "60", "--seed", "3", "--collect", "first_event,extrema"]
    subprocess.run(done, check=True, capture_output=True)
    written = pyarrow.parquet.read_table(tmp_path / "samples.parquet")
    found = carom.sweep(PEGS, samples=60, seed=3, collect=["first_event", "extrema"])
    assert found.columns == written.column_names and found.complete and len(found) == 60
    for name in found.columns:
        there, here = written[name].to_pylist(), found[name].tolist()
        if found[name].dtype.kind == "U":
            assert here == [word or "" for word in there], name
        elif found[name].dtype.kind == "f":
            assert np.array_equal(np.array(here), np.array(there, dtype=np.float64), equal_nan=True), name
        else:
            assert here == there, name
    assert found.varied == [name for name in found.columns if name in found.varied]


def test_threads_change_nothing(local: Sweep) -> None:
    vary = {"body.ball.position[0]": {"grid": [-0.1, 0.1, 11]}}
    assert_same(local, carom.sweep(PEGS, vary, threads=1))
    assert_same(local, carom.sweep(PEGS, ["body.ball.position[0]=grid(-0.1, 0.1, 11)"], threads=3))


def test_a_pool_of_processes_gives_the_same_bits(local: Sweep) -> None:
    seen: list[tuple[int, int]] = []
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        found = carom.sweep(
            PEGS,
            {"body.ball.position[0]": "grid(-0.1, 0.1, 11)"},
            executor=pool,
            chunk=37,
            progress=lambda done, whole: seen.append((done, whole)),
        )
    assert_same(local, found)
    assert seen[-1] == (len(local), len(local)) and seen == sorted(seen)


def test_a_cluster_that_loses_a_worker_gives_the_same_bits(local: Sweep) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster, distributed.Client(cluster) as client:
        processes = client.run(os.getpid)
        assert len(set(processes.values()) - {os.getpid()}) == 2
        killed: list[int] = []

        def kill(done: int, whole: int) -> None:
            if not killed and 0 < done < whole:
                killed.append(next(iter(processes.values())))
                os.kill(killed[0], signal.SIGKILL)

        found = carom.sweep(
            PEGS, {"body.ball.position[0]": "grid(-0.1, 0.1, 11)"}, executor=client, chunk=10, progress=kill
        )
        assert killed, "the worker was to be killed in the midst"
        assert_same(local, found)
        # Another process has taken the place of the one that was killed, or one is left.
        assert killed[0] not in client.run(os.getpid).values()


class Once(Executor):
    """Does what it is given at once, and fails where it is told to."""

    def __init__(self, failing: Callable[[int], BaseException | None]) -> None:
        self.count, self.failing = 0, failing

    def submit(self, task: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        error = self.failing(self.count)
        self.count += 1
        if error is None:
            future.set_result(task(*arguments, **named))
        else:
            future.set_exception(error)
        return future


def test_what_an_executor_raises_is_raised_and_an_interrupt_keeps_the_rows(local: Sweep) -> None:
    vary = {"body.ball.position[0]": "grid(-0.1, 0.1, 11)"}
    with pytest.raises(OSError, match="gone"):
        carom.sweep(PEGS, vary, executor=Once(lambda k: OSError("gone") if k == 3 else None), chunk=20)
    kept = carom.sweep(PEGS, vary, executor=Once(lambda k: KeyboardInterrupt() if k == 3 else None), chunk=20)
    assert not kept.complete and kept.asked == len(local) and len(kept) % 20 == 0
    assert kept.sample.tolist() == list(range(len(kept)))
    with pytest.raises(carom.OptionError, match="executor"):
        carom.sweep(PEGS, vary, executor=3)


def test_a_worker_with_another_version_is_refused() -> None:
    from carom import _carom
    from carom.ensembles import _part

    question = carom.scene.read(PEGS), "", None, None, []
    plan = _carom.Sweep(*question)
    assert len(_part(question, plan.identity, _carom.__version__, 5, 9, 1)["sample"]) == 4
    with pytest.raises(RuntimeError, match="the sweep was begun with 0.0.1"):
        _part(question, plan.identity, "0.0.1", 5, 9, 1)
    with pytest.raises(RuntimeError, match="reads the scene otherwise"):
        _part(question, "0" * 16, _carom.__version__, 5, 9, 1)


INTERRUPTED = """
import carom, os, signal, sys, threading, time
began = threading.Event()
def told(done, whole):
    if done > 0:
        began.set()
def interrupt():
    began.wait()
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals to oneself")
@pytest.mark.parametrize(
    "question",
    [
        "found = carom.sweep('cases/ensembles/pegs.toml', samples=100_000_000, seed=1, progress=told)\n"
        "assert not found.complete and 0 < len(found) < 100_000_000\n"
        "assert found.sample.tolist() == list(range(len(found)))",
        "found = carom.scatter('cases/ensembles/rods.toml', samples=10**12, progress=told)\n"
        "assert found.stopped == 'interrupted' and 0 < found.samples < 10**12\n"
        "assert found.hash == carom.scatter('cases/ensembles/rods.toml', samples=found.samples).hash",
    ],
)
def test_an_interrupt_keeps_what_there_is(question: str) -> None:
    start = time.monotonic()
    subprocess.run([sys.executable, "-c", INTERRUPTED + question], check=True, timeout=120)
    assert time.monotonic() - start < 60


def test_a_sample_that_is_no_scene_is_a_row() -> None:
    found = carom.sweep(PEGS, {"body.ball.mass": [1.0, -1.0]}, samples=2)
    assert found.stopped.tolist()[1] == "invalid" and "mass" in found.reason[1]
    assert np.isnan(found.time[1]) and found.reason[0] == "" and found.time[0] > 0


def test_a_sweep_can_be_pickled_chosen_from_and_shown(local: Sweep) -> None:
    again = pickle.loads(pickle.dumps(local))
    assert_same(local, again)
    assert again.varied == local.varied and again.complete
    few = local[local.time < np.median(local.time)]
    assert isinstance(few, Sweep) and few.varied == local.varied
    assert "samples over" in repr(local)
    frame = local.to_pandas()
    assert len(frame) == len(local) and frame["ball.px"].to_numpy().tobytes() == local["ball.px"].tobytes()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"vary": {"body.nobody.mass": "uniform(0, 1)"}}, "nobody"),
        ({"vary": {"body.ball.mass": "poisson(1)"}}, "no way to vary"),
        ({"vary": [3]}, "vary"),
        ({"vary": {"body.ball.mass": {"uniform": [0]}}}, "expected 2, from and to"),
        ({"samples": -1}, "samples"),
        ({"collect": ["colour"]}, "colour"),
        ({"collect": "extrema"}, "collect"),
        ({"chunk": 0}, "chunk"),
        ({"threads": 0}, "threads"),
    ],
)
def test_mistakes_are_named(options: dict[str, Any], said: str) -> None:
    with pytest.raises((carom.SceneError, carom.OptionError), match=said):
        carom.sweep(PEGS, **options)


def test_scatter_gives_the_bits_of_the_program(program: Callable[..., Any]) -> None:
    told: list[tuple[int, int]] = []
    found = carom.scatter(RODS, samples=5000, seed=2, progress=lambda *parts: told.append(parts))
    there = program("scatter", RODS, "--samples", "5000", "--seed", "2")
    here = found.to_dict()
    there.pop("performance"), here.pop("performance")
    assert here == there and found.encounters is None and told[-1] == (5000, 5000)
    assert "hit, cross-section" in repr(found)


def test_the_encounters_of_a_scattering(binary: str, tmp_path: Path) -> None:
    import pyarrow.parquet

    path = tmp_path / "encounters.parquet"
    subprocess.run([binary, "scatter", RODS, "--samples", "3000", "--rows", str(path)], check=True, capture_output=True)
    written = pyarrow.parquet.read_table(path)
    found = carom.scatter(RODS, samples=3000, rows=True)
    table = found.encounters
    assert table is not None and table.columns == written.column_names and len(table) == 3000
    for name in ("sample", "impacts", "angle", "energy_after", "second.after.wz"):
        assert table[name].tolist() == written[name].to_pylist(), name
    # The table says again what the document does.
    assert int((table.end != "missed").sum()) == found.hits
    hit = table.end == "parted"
    loss = 1.0 - table.energy_after[hit].sum() / table.energy_before[hit].sum()
    assert abs(loss - found.energy_loss.mean) < 1e-12
    again = pickle.loads(pickle.dumps(found))
    assert again.hash == found.hash and len(again.encounters) == 3000


def test_mistakes_of_a_scattering_are_named() -> None:
    with pytest.raises(carom.SceneError, match="bodies to scatter"):
        carom.scatter(carom.Scene(body=[carom.Body("one", carom.Sphere(1.0), mass=1.0)]))
    with pytest.raises(carom.OptionError, match="threads"):
        carom.scatter(RODS, threads=0)

    def refuses(done: int, whole: int) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        carom.scatter(RODS, samples=10**9, progress=refuses)
    with pytest.raises(LookupError, match="enough"):
        carom.sweep(PEGS, samples=10**9, progress=refuses)
