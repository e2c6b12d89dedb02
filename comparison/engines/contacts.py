"""What heaps and chains cost, beside MuJoCo with steps of a millisecond.

    python contacts.py PROGRAM [--out FILE] [--limit SECONDS] [--only box|chain|settle|rest]

`cargo xtask compare-engines` calls it with carom's program, after the probes. It measures, in CPU time:

    box      8, 20 and 40 balls dropped into a box, smooth and with friction 0.3, five simulated seconds: carom and MuJoCo in
             turns, the least of three each, per simulated second, and the ratio; how deep bodies overlap on the way
    chain    a chain of 4 to 64 links falls on a floor: time per event, and the exponent of its growth with the number of links
    settle   200 balls with friction settle in a box
    rest     twenty balls settle, and lie there until t = 1000: what the second part adds

MuJoCo runs as it comes, with its defaults (Euler's semi-implicit integrator, Newton's solver, pyramidal cones), but for the
step, the friction and the restitution: a negative `solref`, as in mujoco_engine.py, for contacts that last ten steps. A run
that passes the limit is ended, and its time is given as a bound.
"""

import argparse
import datetime
import json
import math
import os
import platform
import random
import resource
import subprocess
import sys
import tempfile
import time

# Imported by way of the protocol, standard output is what is printed to ANSWER.
from protocol import ANSWER, turn_z_to

try:
    import mujoco
    import numpy

    from mujoco_engine import reference
except ImportError as error:
    mujoco = None
    MISSING = str(error)

STEP, TURNS = 1e-3, 3
GRAVITY, RADIUS, RESTITUTION, FRICTION = 9.81, 0.05, 0.5, 0.3
UNTIL = 5.0
BALLS = [8, 20, 40]
LINKS = [4, 8, 16, 32, 64]
# Events of a falling chain that are timed.
EVENTS = 60


def planes(half_width):
    named = {"left": [1, 0, 0], "right": [-1, 0, 0], "front": [0, 1, 0], "back": [0, -1, 0]}
    walls = [{"name": name, "normal": normal, "offset": -half_width} for name, normal in named.items()]
    return [{"name": "floor", "normal": [0, 0, 1], "offset": 0.0}] + walls


def box(count, friction, until=UNTIL):
    """Balls in layers above the floor of a box in which they lie two or three deep; the same ones on every machine."""
    source = random.Random(count)
    columns = max(2, round(math.sqrt(count / 2.5)))
    cell = 2.2 * RADIUS
    bodies = []
    for k in range(count):
        places = [k % columns, k // columns % columns, k // columns**2]
        corner = [columns / 2, columns / 2, -1]
        position = [cell * (i + 0.5 - c) + source.uniform(-0.04, 0.04) * RADIUS for i, c in zip(places, corner)]
        velocity = [source.uniform(-0.3, 0.3) for _ in range(3)]
        bodies.append(
            {"name": f"ball{k}", "shape": {"sphere": {"radius": RADIUS}}, "mass": 0.5, "position": position,
             "velocity": velocity}
        )
    return {
        "carom": 1,
        "title": f"{count} balls in a box",
        "world": {"gravity": [0, 0, -GRAVITY]},
        "surface": {"restitution": RESTITUTION, "kind": {"coulomb": friction} if friction else "smooth"},
        "body": bodies,
        "plane": planes(cell * columns / 2),
        "run": {"until": until, "sample": 0, "record_events": False},
    }


def chain(links):
    """Slender links with hinges between them, bent a little and tilted, above a floor."""
    length, beyond, tilt, bend = 0.1, 0.04, 0.1, 0.15
    bodies, joints, end = [], [], [0.0, 0.0, 0.5]
    for k in range(links):
        angle = tilt + (bend if k % 2 else -bend)
        along = [math.cos(angle), 0.0, math.sin(angle)]
        if k:
            names = [f"link{k - 1}", f"link{k}"]
            hinge = {"hinge": {"point": list(end), "axis": [0, 1, 0]}}
            joints.append({"name": f"hinge{k}", "bodies": names, "kind": hinge})
        bodies.append(
            {"name": f"link{k}", "shape": {"ellipsoid": {"semi_axes": [length, 0.03, 0.03]}}, "mass": 0.2,
             "position": [e + (length + beyond) * a for e, a in zip(end, along)],
             "orientation": [math.cos(angle / 2), 0, -math.sin(angle / 2), 0]}
        )
        end = [e + 2 * (length + beyond) * a for e, a in zip(end, along)]
    return {
        "carom": 1,
        "title": f"A chain of {links} links falls on a floor",
        "world": {"gravity": [0, 0, -GRAVITY]},
        "surface": {"restitution": RESTITUTION},
        "body": bodies,
        "joint": joints,
        "plane": planes(1.0)[:1],
        "run": {"until": 5.0, "max_events": EVENTS, "sample": 0, "record_events": False},
    }


def carom(program, scene, limit, samples=None):
    """The CPU time of a run, and its document; none where it passes the limit."""
    if samples:
        scene = dict(scene, run=dict(scene["run"], sample=samples))
    command = [program, "run", "-", "--json"] + (["--samples"] if samples else [])
    seconds = math.ceil(limit)

    def bounded():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))

    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as printed:
        given.write(json.dumps(scene).encode())
        given.seek(0)
        child = subprocess.Popen(
            command, stdin=given, stdout=printed, stderr=subprocess.DEVNULL, preexec_fn=bounded
        )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        printed.seek(0)
        text = printed.read()
    cpu = usage.ru_utime + usage.ru_stime
    return cpu, json.loads(text) if child.returncode >= 0 and text else None


def how_it_ended(cpu, document):
    return {"cpu_s": cpu, "ended": "limit" if document is None else document["stopped"]}


def model(scene):
    spec = mujoco.MjSpec()
    spec.option.timestep, spec.option.gravity = STEP, scene["world"]["gravity"]
    kind = scene["surface"]["kind"]
    # Contacts take the larger dimension and friction of their two bodies.
    contact = {"solref": reference(scene["surface"]["restitution"], 10 * STEP), "condim": 1}
    if kind != "smooth":
        contact.update(condim=3, friction=[kind["coulomb"], 0, 0])
    for plane in scene["plane"]:
        spec.worldbody.add_geom(
            name=plane["name"], type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], quat=turn_z_to(plane["normal"]),
            pos=[plane["offset"] * part for part in plane["normal"]], **contact,
        )
    for given in scene["body"]:
        body = spec.worldbody.add_body(name=given["name"], pos=given["position"])
        body.add_freejoint()
        radius = given["shape"]["sphere"]["radius"]
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[radius, 0, 0], mass=given["mass"], **contact)
    return spec.compile()


def mujoco_run(scene, between=None):
    """The CPU time of all steps. `between` sees the balls' places every ten steps; then nothing is timed."""
    built = model(scene)
    data = mujoco.MjData(built)
    for i, given in enumerate(scene["body"]):
        data.qvel[6 * i : 6 * i + 3] = given["velocity"]
    steps = round(scene["run"]["until"] / STEP)
    if between:
        for _ in range(steps // 10):
            mujoco.mj_step(built, data, 10)
            between(data.qpos.reshape(-1, 7)[:, :3])
        return None
    start = time.process_time()
    mujoco.mj_step(built, data, steps)
    return time.process_time() - start


def smallest_gap(scene, places):
    """Of balls of one radius, over the radius."""
    places = numpy.asarray(places)
    walls = [places @ numpy.array(plane["normal"], float) - plane["offset"] - RADIUS for plane in scene["plane"]]
    apart = numpy.linalg.norm(places[:, None] - places[None], axis=2)[numpy.triu_indices(len(places), 1)]
    return min(apart.min() - 2 * RADIUS, min(wall.min() for wall in walls)) / RADIUS


def frames(document):
    """The places of all bodies at every sample."""
    at = {}
    for sample in document["samples"]:
        if sample["moment"] == "sample":
            at.setdefault(sample["time"], []).append(sample["position"])
    return at.values()


def compare_boxes(program, limit):
    rows = []
    for friction in [0.0, FRICTION]:
        for count in BALLS:
            scene = box(count, friction)
            row = {"balls": count, "friction": friction}
            ours, theirs = [], []
            for _ in range(TURNS):
                cpu, document = carom(program, scene, limit)
                ours.append(cpu)
                if mujoco:
                    theirs.append(mujoco_run(scene))
                # What passes the limit, or ends early, would do so again.
                if document is None or document["stopped"] != "until":
                    break
            row["carom"] = how_it_ended(min(ours), document)
            row["carom"]["per_s"] = min(ours) / UNTIL
            if row["carom"]["ended"] == "until":
                row["carom"]["events"] = document["performance"]["events"]
                _, sampled = carom(program, scene, 10 * limit, samples=0.01)
                if sampled and mujoco:
                    row["carom"]["gap_min"] = min(float(smallest_gap(scene, places)) for places in frames(sampled))
            if theirs:
                gaps = []
                mujoco_run(scene, lambda places: gaps.append(float(smallest_gap(scene, places))))
                row["mujoco"] = {"cpu_s": min(theirs), "per_s": min(theirs) / UNTIL, "gap_min": min(gaps)}
                row["ratio"] = min(ours) / min(theirs)
            rows.append(row)
            say_box(row)
    return rows


def say_box(row):
    # Of a run that did not reach its end the times are bounds.
    ended = row["carom"]["ended"]
    bound, why = ("", "") if ended == "until" else ("more than ", f" ({ended})")
    text = f"{row['balls']:3} balls, friction {row['friction']}: carom {bound}{row['carom']['per_s']:.4f} s per s{why}"
    if "gap_min" in row["carom"]:
        text += f", gap {row['carom']['gap_min']:.1e}"
    if "mujoco" in row:
        text += f"; MuJoCo {row['mujoco']['per_s']:.4f}, gap {row['mujoco']['gap_min']:.1e}; ratio {bound}{row['ratio']:.1f}"
    say(text)


def time_chains(program, limit):
    """The exponent of time per event is fitted to those that had all their events; what it takes to start is taken off."""
    rows = []
    start = min(carom(program, dict(chain(1), run={"until": 0, "sample": 0}), limit)[0] for _ in range(5))
    for links in LINKS:
        cpu, document = carom(program, chain(links), limit)
        row = {"links": links, **how_it_ended(cpu, document)}
        if document and document["performance"]["events"]:
            row["events"] = document["performance"]["events"]
            row["per_event_s"] = max(cpu - start, 0) / row["events"]
        rows.append(row)
        per = f"{1e3 * row['per_event_s']:.2f} ms per event" if "per_event_s" in row else f"{cpu:.1f} s"
        say(f"{links:3} links: {per} ({row['ended']}, {row.get('events', 'unknown')} events)")
        if document is None:
            break
    timed = [row for row in rows if row.get("events", 0) >= EVENTS and row.get("per_event_s", 0) > 0]
    exponent = slope([(math.log(row["links"]), math.log(row["per_event_s"])) for row in timed])
    if exponent is not None:
        say(f"time per event grows as n^{exponent:.2f} from {timed[0]['links']} to {timed[-1]['links']} links")
    return {"rows": rows, "exponent": exponent}


def slope(points):
    if len(points) < 2:
        return None
    middle = [sum(point[i] for point in points) / len(points) for i in (0, 1)]
    across = sum((x - middle[0]) ** 2 for x, _ in points)
    return sum((x - middle[0]) * (y - middle[1]) for x, y in points) / across


def time_settling(program, limit):
    row = how_it_ended(*carom(program, box(200, FRICTION), limit))
    say(f"200 balls with friction, {UNTIL:g} s: {row['cpu_s']:.1f} s ({row['ended']})")
    return row


def time_rest(program, limit):
    rows = {}
    for until in [20, 1000]:
        rows[until] = how_it_ended(*carom(program, box(20, FRICTION, until), limit))
        say(f"20 balls with friction until t = {until}: {rows[until]['cpu_s']:.2f} s ({rows[until]['ended']})")
    return rows


def say(text):
    print(text, file=ANSWER, flush=True)


def processor():
    try:
        with open("/proc/cpuinfo") as lines:
            names = [line.split(": ", 1)[1].strip() for line in lines if line.startswith("model name")]
    except OSError:
        names = []
    return f"{os.cpu_count()} cores of {names[0] if names else platform.machine()}, {sys.platform}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--out")
    parser.add_argument("--limit", type=float, default=120, help="CPU seconds for a run; 600 for that of 200 balls")
    parser.add_argument("--only", choices=["box", "chain", "settle", "rest"])
    given = parser.parse_args()
    if mujoco is None:
        say(f"without MuJoCo: {MISSING}")
    version = subprocess.run([given.program, "--version"], capture_output=True, text=True, check=True).stdout.split()
    results = {
        "date": datetime.date.today().isoformat(),
        "machine": processor(),
        "versions": {"carom": version[1], "MuJoCo": mujoco.__version__ if mujoco else None},
    }
    measures = {
        "box": lambda: compare_boxes(given.program, given.limit),
        "chain": lambda: time_chains(given.program, given.limit),
        "settle": lambda: time_settling(given.program, 5 * given.limit),
        "rest": lambda: time_rest(given.program, given.limit),
    }
    for name, measure in measures.items():
        if given.only in (None, name):
            results[name] = measure()
    if given.out:
        with open(given.out, "w") as file:
            file.write(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
