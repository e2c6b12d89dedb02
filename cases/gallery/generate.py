#!/usr/bin/env python3
"""Writes the scenes of the gallery that have many bodies: gas.toml, box.toml and break_shot.toml.

    python3 cases/gallery/generate.py

Python's standard library only; the same files on every run.
"""

import math
import pathlib
import random

HERE = pathlib.Path(__file__).parent


def vector(v):
    return "[" + ", ".join(f"{x:.6g}" for x in v) + "]"


def body(name, shape, mass, position, velocity=None, spin=None, turn=None):
    lines = ["", "[[body]]", f'name = "{name}"', f"shape = {shape}", f"mass = {mass}", f"position = {vector(position)}"]
    if turn:
        lines.append(f"orientation = {{ bryan = {vector(turn)} }}")
    if velocity:
        lines.append(f"velocity = {vector(velocity)}")
    if spin:
        lines.append(f"angular_velocity = {vector(spin)}")
    return lines


def walls(length):
    lines = []
    for name, axis in (("x", 0), ("y", 1), ("z", 2)):
        for side, sign in (("low", 1), ("high", -1)):
            normal = [0, 0, 0]
            normal[axis] = sign
            lines += ["", "[[plane]]", f'name = "{name}_{side}"', f"normal = {normal}"]
            lines += [f"offset = {-length}"] if sign < 0 else []
    return lines


def write(name, lines):
    (HERE / name).write_text("\n".join(lines) + "\n")


def normal(source, scale):
    return [source.gauss(0, scale) for _ in range(3)]


def on_lattice(count, length):
    """Places on a cubic lattice, one for each body."""
    side = math.ceil(count ** (1 / 3))
    step = length / side
    cells = [(i, j, k) for i in range(side) for j in range(side) for k in range(side)]
    return [[(x + 0.5) * step for x in cell] for cell in cells[:count]]


def gas():
    source = random.Random(7)
    length = 12
    lines = [
        "# A gas of 100 superellipsoids in a periodic box: over its thousands of impacts energy and momentum stay.",
        "carom = 1",
        'title = "A gas of 100 superellipsoids"',
        "",
        "[world]",
        f"periodic = [{length}, {length}, {length}]",
    ]
    shape = "{ superellipsoid = { semi_axes = [0.6, 0.5, 0.4], exponent = 3 } }"
    for i, place in enumerate(on_lattice(100, length)):
        turn = [source.uniform(-3, 3) for _ in range(3)]
        lines += body(f"gas{i}", shape, 1, place, normal(source, 1), normal(source, 2), turn)
    lines += ["", "[run]", "until = 1000", "max_events = 2000", "sample = 0.1"]
    write("gas.toml", lines)


def box():
    source = random.Random(11)
    length = 4
    lines = [
        "# Ten tumbling ellipsoids in a box: after a thousand impacts the energy is the one that they began with, to 13 digits.",
        "carom = 1",
        'title = "Tumbling ellipsoids in a box"',
    ]
    for i, place in enumerate(on_lattice(10, length)):
        shape = "{ ellipsoid = { semi_axes = [0.6, 0.4, 0.3] } }"
        lines += body(f"ellipsoid{i}", shape, 1, place, normal(source, 1), normal(source, 2))
    lines += walls(length)
    lines += ["", "[run]", "until = 1000", "max_events = 1000", "sample = 0.02"]
    write("box.toml", lines)


def break_shot():
    radius, apart = 0.028575, 1e-4
    lines = [
        "# A break shot, exactly along the axis of the triangle: the balls spread, left and right alike.",
        "carom = 1",
        'title = "A break shot"',
    ]
    shape = f"{{ sphere = {{ radius = {radius} }} }}"
    lines += body("cue", shape, 0.17, [-1, 0, 0], velocity=[8, 0, 0])
    number = 1
    for row in range(5):
        for k in range(row + 1):
            step = 2 * radius + apart
            # Powers of two of a unit make left and right alike to the bit.
            y = (k - row / 2) * step
            place = [row * step * math.sqrt(3) / 2, y, 0]
            lines += body(f"ball{number}", shape, 0.17, place)
            number += 1
    lines += ["", "[surface]", "restitution = 0.95", "", "[run]", "until = 0.6", "sample = 0.002"]
    write("break_shot.toml", lines)


gas()
box()
break_shot()
