"""Rapier judged on one impact of a tumbling ellipsoid: `python comparison/judged/rapier_judged.py PROGRAM`, with carom and NumPy
installed, and the program that `cargo build --release` makes in `comparison/rapier`."""

import json
import subprocess
import sys

import carom

AXES, MASS, UNTIL = [0.1, 0.2, 0.3], 25.0, 0.4
EGG = carom.Ellipsoid(AXES)
SCENE = carom.Scene(
    world=carom.World(gravity=[0, 0, -9.81]),
    body=[carom.Body("egg", EGG, mass=MASS, position=[0, 0, 0.6], angular_velocity=[1.0, 2.0, 0.5])],
    plane=[carom.Plane("ground", normal=[0, 0, 1])],
)
CHOICE = "4 substeps, prediction 1e-4"


def begin(states, step):
    """All the steps of a run, by a program that is asked once."""
    egg = {name: value.tolist() for name, value in states["egg"]._asdict().items()}
    request = {
        "gravity": [0, 0, -9.81],
        "until": UNTIL,
        "bodies": [{"name": "egg", "semi_axes": AXES, "mass": MASS, "inertia": (MASS * EGG.unit_inertia).tolist(), **egg}],
        "planes": [{"name": "ground", "normal": [0, 0, 1], "offset": 0.0}],
        "contacts": [{"bodies": ["ground", "egg"], "restitution": 1.0, "surface": "smooth"}],
        "steps": [step],
        "every_step": True,
    }
    done = subprocess.run(sys.argv[1], input=json.dumps(request), capture_output=True, text=True, check=True)
    return iter(next(run["path"] for run in json.loads(done.stdout)["runs"] if run["choice"] == CHOICE))


def advance(engine):
    """The states after the next step."""
    return {name: carom.Motion(**state) for name, state in next(engine).items()}


if __name__ == "__main__":
    judged = carom.judge_engine(SCENE, begin, advance, until=UNTIL, steps=[1e-3, 2.5e-4, 6.25e-5], setting="Rapier")
    print(judged.table())
