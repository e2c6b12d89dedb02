"""What an engine is asked and how it answers: one JSON document in, one out.

The request, from standard input:

    probe      the name of the scene
    gravity, until
    bodies     name, semi_axes, mass, inertia (principal, body axes), position, orientation (w x y z), velocity,
               angular_velocity (both in world axes)
    planes     name, normal (into the free side), offset
    contacts   bodies (two names), restitution, surface ("smooth" or "rough")
    steps      the ladder of time steps

The answer, on standard output: engine, version, settings (words), and runs: one for every step, or several where the engine
has something else to be chosen. A run has step or accuracy, choice (words), final (position, orientation, velocity,
angular_velocity of every body at the end) and wall_s, the time of the stepping alone (the least of three where that is short). An engine that has no way to be asked
for a probe answers with cannot: the reason.
"""

import json
import math
import os
import sys

# Engines print what they like; it goes to standard error, so that the answer stands alone.
ANSWER = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

# A run that takes less is timed three times, in seconds.
SHORT = 0.05


def serve(engine, version, settings, simulate, cannot, warm_up=True):
    """Answers the one request: `simulate(request, step)` gives the runs at a step, `cannot(request)` a reason or None.

    The first step is run once before, so that no run is timed together with what an engine sets up on its first use. What is short is
    run three times, and the least time counts.
    """
    request = json.load(sys.stdin)
    answer = {"engine": engine, "version": version, "settings": settings}
    reason = cannot(request)
    if reason:
        answer["cannot"] = reason
    else:
        if warm_up:
            simulate(request, request["steps"][0])
        answer["runs"] = [run for step in request["steps"] for run in timed(simulate, request, step)]
    json.dump(answer, ANSWER, allow_nan=False)
    ANSWER.flush()


def timed(simulate, request, step):
    runs = simulate(request, step)
    for _ in range(2):
        if all(0 < run["wall_s"] < SHORT for run in runs):
            for run, again in zip(runs, simulate(request, step)):
                run["wall_s"] = min(run["wall_s"], again["wall_s"])
    return runs


def steps_to(until, step):
    """The number of steps to the end, which every step of the ladder divides."""
    count = round(until / step)
    assert abs(count * step - until) < 1e-9 * until, (until, step)
    return count


def is_rough(request):
    return any(contact["surface"] == "rough" for contact in request["contacts"])


def restitutions(request):
    return {contact["restitution"] for contact in request["contacts"]}


def is_ball(body):
    return len(set(body["semi_axes"])) == 1


def state(position, orientation, velocity, angular_velocity):
    return {
        "position": [float(x) for x in position],
        "orientation": [float(x) for x in orientation],
        "velocity": [float(x) for x in velocity],
        "angular_velocity": [float(x) for x in angular_velocity],
    }


def product(a, b):
    """The product of two quaternions, scalar first."""
    return [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ]


def to_world(orientation, vector):
    """A vector of body axes in world axes; the quaternion need not be of length one."""
    conjugate = [orientation[0], -orientation[1], -orientation[2], -orientation[3]]
    turned = product(product(orientation, [0] + list(vector)), conjugate)
    square = sum(part * part for part in orientation)
    return [part / square for part in turned[1:]]


def to_body(orientation, vector):
    """A vector of world axes in body axes."""
    return to_world([orientation[0], -orientation[1], -orientation[2], -orientation[3]], vector)


def turn_z_to(normal):
    """The quaternion of the least turn that takes the z axis to a unit normal."""
    x, y, z = normal
    if z < -1 + 1e-12:
        return [0.0, 1.0, 0.0, 0.0]
    w = math.sqrt((1 + z) / 2)
    return [w, -y / (2 * w), x / (2 * w), 0.0]
