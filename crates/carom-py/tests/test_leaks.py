"""Nothing is left behind: memory over a hundred thousand calls."""

from __future__ import annotations

import gc
import os
from typing import Callable

import numpy as np
import pytest

import carom

CALLS = int(os.environ.get("CAROM_CALLS", "100000"))
BALL = {
    "carom": 1,
    "body": [
        {"name": "ball", "shape": {"sphere": {"radius": 1}}, "mass": 1, "position": [0, 0, 1], "velocity": [0, 0, -1]}
    ],
    "plane": [{"name": "floor", "normal": [0, 0, 1]}],
    "run": {"until": 0.01, "sample": 0.01},
}
BODY = carom.Bodies(carom.Ellipsoid([1.0, 2.0, 3.0]), angular_velocity=[1.0, 0.0, 0.0])
OTHER = carom.Bodies(carom.Sphere(1.0), position=[6.0, 0.0, 0.0], velocity=[-1.0, 0.0, 0.0])


def resident() -> int:
    """The memory that the process holds, in bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def refused() -> None:
    with pytest.raises(carom.SceneError):
        carom.solve({"carom": 1, "body": [{}]})


def mixed(i: int) -> None:
    carom.solve(BALL).bodies.ball.velocity
    if i % 10 == 0:
        carom.gap_many(BODY, OTHER).normal
        carom.toi_many(BODY, OTHER, until=10.0).time
        carom.Flight(inertia=[1.0, 2.0, 3.0], angular_velocity=[1.0, 1.0, 0.0]).at(1.0).orientation
        carom.Ellipsoid([1.0, 2.0, 3.0]).support([1.0, 0.0, 0.0])
    if i % 50 == 0:
        refused()
        found = carom.run(BALL)
        found.events.time, found.samples.px
        found.samples.__arrow_c_stream__()


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="/proc")
def test_memory_does_not_grow_with_calls() -> None:
    """After a warm-up, over all the calls less than a hundred bytes a call, whatever is asked."""
    for i in range(CALLS // 20):
        mixed(i)
    gc.collect()
    before = resident()
    for i in range(CALLS):
        mixed(i)
    gc.collect()
    grown = resident() - before
    assert grown <= max(4 << 20, 100 * CALLS // 4), f"{grown / 2**20:.1f} MiB over {CALLS} calls"


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="/proc")
def test_large_arrays_are_given_back() -> None:
    places = np.zeros((200_000, 3))
    places[:, 0] = 9.0
    second = carom.Bodies(carom.Sphere(1.0), position=places)

    def once() -> None:
        assert carom.gap_many(carom.Bodies(carom.Sphere(1.0)), second).gap[0] == 7.0

    ask: Callable[[], None] = once
    for _ in range(3):
        ask()
    before = resident()
    for _ in range(20):
        ask()
    # Each answer holds 22 MB.
    assert resident() - before < 60 << 20
