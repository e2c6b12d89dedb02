"""What the package costs over the Rust library, measured side by side in one run: `python crates/carom-py/benches/rates.py`.

- *first contacts*: a million pairs of ellipsoids with semi-axes from ½ to 2 that fly at each other, tumbling, each pair with shapes of
  its own, in one call. Beside it the same pairs by a Rust loop over a prepared list, timed inside the module. The limit: at least
  0.9 of its rate.
- *scattering*: of 10⁵ of the same pairs the first contacts and the impacts there, `toi_many(…).strike(…)`; beside it the same in Rust. The
  limit: at least 0.9 of its rate.
- *solve*: one ball at a plane, as a dictionary, asked again and again; the answer's velocity is looked at. Beside it the same in
  Rust, from the text to the document. The limit: at most 50 µs more.

Rounds alternate and the best of each counts. Install a release build first: `pip install .`.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from pathlib import Path
from typing import Any, Callable

import numpy as np

import carom
from carom import _carom
from carom.scene import read

BALL = {
    "carom": 1,
    "body": [
        {"name": "ball", "shape": {"sphere": {"radius": 1}}, "mass": 1, "position": [0, 0, 1], "velocity": [0, 0, -1]}
    ],
    "plane": [{"name": "floor", "normal": [0, 0, 1]}],
}


def pairs(count: int) -> tuple[carom.Bodies, carom.Bodies]:
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


def best(rounds: int, *questions: Callable[[], float]) -> list[float]:
    """The least seconds of each, over rounds in which they alternate."""
    seconds = [[question() for question in questions] for _ in range(rounds)]
    return [min(column) for column in zip(*seconds)]


def timed(question: Callable[[], object]) -> float:
    start = time.perf_counter()
    question()
    return time.perf_counter() - start


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    rounds = 3
    print(
        f"carom {carom.__version__}, Python {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}"
    )
    one, two = pairs(count)
    until, nothing = np.array([2.0]), np.zeros(3)
    ours, rust = best(
        rounds,
        lambda: timed(lambda: carom.toi_many(one, two, until=2.0)),
        lambda: _carom.toi_seconds(count, one._arrays(), two._arrays(), until, nothing),
    )
    print(
        f"first contacts of {count} pairs: {count / ours:.0f} a second, Rust {count / rust:.0f}: {rust / ours:.3f} of its rate (limit 0.9)"
    )
    fast = rust / ours >= 0.9
    many = min(count, 100_000)
    few, others = pairs(many)
    struck, alone = best(
        2 * rounds,
        lambda: timed(lambda: carom.toi_many(few, others, until=2.0).strike(0.5)),
        lambda: _carom.toi_seconds(many, few._arrays(), others._arrays(), until, nothing, 0.5),
    )
    print(
        f"scattering of {many} pairs: {many / struck:.0f} a second, Rust {many / alone:.0f}: {alone / struck:.3f} of its rate (limit 0.9)"
    )
    fast = fast and alone / struck >= 0.9
    gaps = min(timed(lambda: carom.gap_many(one, two)) for _ in range(rounds))
    print(f"gaps of the same: {count / gaps:.0f} a second")

    # Work of users' own threads: eight scenes, one after the other and side by side.
    box = carom.Scene.of(Path(__file__).resolve().parents[3] / "cases/gallery/box.toml")
    alone, together = best(
        rounds,
        lambda: timed(lambda: [carom.run(box, threads=1, max_events=300) for _ in range(8)]),
        lambda: timed(lambda: carom.run_many([box] * 8, max_events=300)),
    )
    print(f"run_many of 8 scenes: {alone / together:.2f} times as fast as one after the other, on {os.cpu_count()} cores")

    # Short rounds and many, so that some of them are undisturbed.
    repeats = 200
    text = read(BALL)

    def lazily() -> None:
        for _ in range(repeats):
            carom.solve(BALL)

    def looked_at() -> None:
        for _ in range(repeats):
            carom.solve(BALL).bodies.ball.velocity

    lazy, full, alone = best(
        50,
        lambda: timed(lazily) / repeats,
        lambda: timed(looked_at) / repeats,
        lambda: _carom.solve_seconds(text, repeats),
    )
    print(
        f"solve: {1e6 * full:.1f} µs, {1e6 * lazy:.1f} until the answer is looked at, Rust {1e6 * alone:.1f}: "
        f"{1e6 * (full - alone):.1f} µs more (limit 50)"
    )
    return 0 if fast and full - alone <= 50e-6 else 1


if __name__ == "__main__":
    sys.exit(main())
