"""Gaps and mass properties of bodies with flats, edges and corners, in 50 digits, by other means than the library's.

Gaps apart: alternating projections onto the two bodies, whose limit is a nearest pair. Overlapping boxes: the largest of the
separations along the 15 axes. Mass properties: integrals over z of discs (or of rounded rectangles), by tanh-sinh quadrature.

    python3 edged.py > edged.json
"""

import json
import random

from mpmath import mp, mpf, matrix, sqrt, pi, quad

mp.dps = 60
source = random.Random(24)


def vector(values):
    return [mpf(v) for v in values]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def norm(a):
    return sqrt(dot(a, a))


def sub(a, b):
    return [x - y for x, y in zip(a, b)]


def add(a, b):
    return [x + y for x, y in zip(a, b)]


def times(s, a):
    return [s * x for x in a]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def turn(q):
    """The columns of the rotation of a quaternion, scalar first, normalised."""
    w, x, y, z = times(1 / norm(vector(q)), vector(q))
    return [
        [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)],
        [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)],
        [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)],
    ]


def clamp(x, a):
    return max(-a, min(a, x))


def nearest(shape, x):
    """The point of the shape without its rounding, in its own axes, nearest to x."""
    (kind, size), = shape.items()
    rho = sqrt(x[0] ** 2 + x[1] ** 2)

    def at(r, z):
        return [x[0] / rho * r, x[1] / rho * r, z] if rho > 0 else [mpf(0), mpf(0), z]

    if kind == "box":
        return [clamp(c, mpf(a)) for c, a in zip(x, size["half_extents"])]
    if kind == "sphere":
        return [mpf(0)] * 3
    if kind == "capsule":
        return [mpf(0), mpf(0), clamp(x[2], mpf(size["half_length"]))]
    if kind == "disc":
        return at(min(rho, mpf(size["radius"])), mpf(0))
    if kind == "cylinder":
        return at(min(rho, mpf(size["radius"])), clamp(x[2], mpf(size["half_length"])))
    radius, base = mpf(size["radius"]), cone_base(size)
    tip = base + mpf(size["height"])
    corners = [(mpf(0), base), (radius, base), (mpf(0), tip)]
    inside = base <= x[2] and rho * (tip - base) + (x[2] - tip) * radius <= 0
    if inside:
        return list(x)
    best = None
    for (a, b), (c, d) in [(corners[0], corners[1]), (corners[1], corners[2])]:
        t = ((rho - a) * (c - a) + (x[2] - b) * (d - b)) / ((c - a) ** 2 + (d - b) ** 2)
        t = max(mpf(0), min(mpf(1), t))
        point = (a + t * (c - a), b + t * (d - b))
        far = (rho - point[0]) ** 2 + (x[2] - point[1]) ** 2
        if best is None or far < best[0]:
            best = (far, point)
    return at(*best[1])


def rounding(shape):
    (kind, size), = shape.items()
    return mpf(size["radius"]) if kind in ("sphere", "capsule") else mpf(size.get("rounding", 0))


def project(shape, pose, x):
    axes, place = pose
    local = [dot(axis, sub(x, place)) for axis in axes]
    y = nearest(shape, local)
    return add(place, [sum(axes[k][i] * y[k] for k in range(3)) for i in range(3)])


def gap_apart(shapes, poses):
    """Of the bodies without roundings, which are taken off."""
    x = poses[0][1]
    last = None
    for _ in range(20000):
        y = project(shapes[1], poses[1], x)
        x = project(shapes[0], poses[0], y)
        apart = norm(sub(y, x))
        if last is not None and abs(apart - last) < mpf(10) ** -50:
            break
        last = apart
    else:
        return None, None
    distance = norm(sub(project(shapes[1], poses[1], x), x))
    return distance, distance - rounding(shapes[0]) - rounding(shapes[1])


def gap_of_boxes(shapes, poses):
    """The largest separation along the axes of both and their products."""
    axes = [poses[0][0], poses[1][0]]
    tried = axes[0] + axes[1] + [cross(a, b) for a in axes[0] for b in axes[1]]
    between = sub(poses[1][1], poses[0][1])
    best = None
    for n in tried:
        if norm(n) < mpf(10) ** -20:
            continue
        n = times(1 / norm(n), n)
        reach = sum(
            mpf(a) * abs(dot(axis, n))
            for k in range(2)
            for a, axis in zip(shapes[k]["box"]["half_extents"], axes[k])
        )
        value = abs(dot(n, between)) - reach
        best = value if best is None else max(best, value)
    return best - rounding(shapes[0]) - rounding(shapes[1])


def profile(shape):
    """Area of the section at z and its ⟨x²⟩ times area, with the intervals between kinks."""
    (kind, size), = shape.items()
    r = rounding(shape)
    if kind == "box":
        a, b, c = vector(size["half_extents"])

        def section(z):
            s = sqrt(r**2 - (abs(z) - c) ** 2) if abs(z) > c else r
            area = 4 * a * b + 4 * s * (a + b) + pi * s**2
            # ∫x² over the rounded rectangle: strips of width 2(b + √(s² − (x − a)²)) beyond a.
            second = 4 * a**3 * (b + s) / 3
            second += 4 * (b * ((a + s) ** 3 - a**3) / 3 + (pi * s**2 * a**2 / 4 + 2 * a * s**3 / 3 + pi * s**4 / 16))
            return area, second

        return section, [-c - r, -c, c, c + r] if r else [-c, c]
    if kind == "cone":
        radius, height = mpf(size["radius"]), mpf(size["height"])
        slant = sqrt(radius**2 + height**2)
        low, high = r * radius / slant, height + r * radius / slant

        def width(z):
            if z < low:
                return radius + sqrt(max(mpf(0), r**2 - z**2))
            if z > high:
                return sqrt(max(mpf(0), r**2 - (z - height) ** 2))
            return (r * slant + (height - z) * radius) / height

        knots = [-r, mpf(0), low, high, height + r] if r else [mpf(0), height]
    else:
        radius = mpf(0) if kind == "capsule" else mpf(size["radius"])
        high = mpf(size.get("half_length", 0))

        def width(z):
            return radius + (sqrt(max(mpf(0), r**2 - (abs(z) - high) ** 2)) if abs(z) > high else r)

        knots = [-high - r, -high, high, high + r] if r else [-high, high]
        knots = sorted(set(knots))

    def section(z):
        w = width(z)
        return pi * w**2, pi * w**4 / 4

    return section, knots


def moments(shape):
    section, knots = profile(shape)
    volume = quad(lambda z: section(z)[0], knots)
    centre = quad(lambda z: section(z)[0] * z, knots) / volume
    along = quad(lambda z: section(z)[0] * (z - centre) ** 2, knots) / volume
    across = quad(lambda z: section(z)[1], knots) / volume
    return volume, centre, along, across


def cone_base(size):
    key = json.dumps(size, sort_keys=True)
    if key not in bases:
        bases[key] = -moments({"cone": size})[1]
    return bases[key]


bases = {}


def between(low, high):
    # Four decimals, exact in the file.
    return round(source.uniform(low, high), 4)


def random_shape():
    kind = source.choice(["box", "box", "cylinder", "capsule", "cone", "disc", "sphere"])
    r = source.choice([0, 0, 0.125, 0.3])
    size = {
        "box": lambda: {"half_extents": [between(0.2, 1.2) for _ in range(3)], "rounding": r},
        "cylinder": lambda: {"radius": between(0.2, 1.2), "half_length": between(0.2, 1.2), "rounding": r},
        "capsule": lambda: {"radius": between(0.2, 0.6), "half_length": between(0.2, 1.2)},
        "cone": lambda: {"radius": between(0.3, 1.2), "height": between(0.4, 2), "rounding": r},
        "disc": lambda: {"radius": between(0.3, 1.2), "rounding": r},
        "sphere": lambda: {"radius": between(0.2, 0.8)},
    }[kind]()
    return {kind: size}


def random_pose(reach):
    place = [between(-reach, reach) for _ in range(3)]
    q = [between(-1, 1) for _ in range(4)]
    if source.random() < 0.3:
        # Faces and edges parallel.
        q = source.choice([[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0], [1, 0, 0, 1], [1, 1, 1, 1]])
    return {"position": place, "orientation": q}


def placed(pose):
    return turn(pose["orientation"]), vector(pose["position"])


def digits(x):
    return mp.nstr(x, 50)


def main():
    gaps = []
    while len(gaps) < 120:
        shapes = [random_shape(), random_shape()]
        poses = [random_pose(0.2), random_pose(2.2)]
        core, gap = gap_apart(shapes, [placed(p) for p in poses])
        if core is not None and core > 0.01:
            gaps.append({"shapes": shapes, "poses": poses, "gap": digits(gap)})
    while len(gaps) < 160:
        r = source.choice([0, 0.2])
        shapes = [{"box": {"half_extents": [between(0.2, 1.2) for _ in range(3)], "rounding": r}} for _ in range(2)]
        poses = [random_pose(0.2), random_pose(0.8)]
        gap = gap_of_boxes(shapes, [placed(p) for p in poses])
        if gap < -2 * r - 0.01:
            gaps.append({"shapes": shapes, "poses": poses, "gap": digits(gap)})
    mass = []
    for shape in [
        {"box": {"half_extents": [1, 0.5, 0.25], "rounding": 0}},
        {"box": {"half_extents": [1, 0.5, 0.25], "rounding": 0.3}},
        {"cylinder": {"radius": 0.5, "half_length": 2, "rounding": 0}},
        {"cylinder": {"radius": 0.5, "half_length": 2, "rounding": 0.2}},
        {"capsule": {"radius": 0.4, "half_length": 1.5}},
        {"cone": {"radius": 0.75, "height": 2, "rounding": 0}},
        {"cone": {"radius": 0.75, "height": 2, "rounding": 0.25}},
        {"cone": {"radius": 2, "height": 0.5, "rounding": 1}},
        {"disc": {"radius": 1.5, "rounding": 0.1}},
    ]:
        volume, centre, along, across = moments(shape)
        kind = next(iter(shape))
        if kind == "box":
            # The section's ⟨y²⟩ by the same formula with x and y exchanged.
            a, b, c = shape["box"]["half_extents"]
            other = moments({"box": {**shape["box"], "half_extents": [b, a, c]}})[3]
        else:
            other = across
        inertia = [other + along, across + along, across + other]
        entry = {"shape": shape, "volume": digits(volume), "unit_inertia": [digits(i) for i in inertia]}
        if kind == "cone":
            entry["base"] = digits(-centre)
        mass.append(entry)
    rows = {name: ",\n".join("  " + json.dumps(row) for row in rows) for name, rows in [("gaps", gaps), ("mass", mass)]}
    print('{"source": "edged.py, 60 digits",\n "gaps": [\n%s],\n "mass": [\n%s]}' % (rows["gaps"], rows["mass"]))


main()
