"""Gaps and mass properties of convex polyhedra, in 50 digits, by other means than the library's.

Hulls: every plane through three points that has all others on one side, in rational numbers. Gaps: the greatest separation along all
normals of faces, products of edges, differences of corners, and perpendiculars of corners on edges; one of these is the normal of the gap,
and none can exceed it. Mass properties without rounding: integrals over slices, each a polygon.

    python3 polyhedra.py > polyhedra.json
"""

import itertools
import json
import math
import random
from fractions import Fraction

from mpmath import mp, mpf, sqrt

mp.dps = 60
source = random.Random(242)


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def sub(a, b):
    return [x - y for x, y in zip(a, b)]


def add(a, b):
    return [x + y for x, y in zip(a, b)]


def times(s, a):
    return [s * x for x in a]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def hull(points):
    """Corners, outward normals of the faces, and edges as pairs of corners."""
    exact = [[Fraction(x) for x in p] for p in points]
    faces = {}
    for i, j, k in itertools.combinations(range(len(exact)), 3):
        n = cross(sub(exact[j], exact[i]), sub(exact[k], exact[i]))
        if n == [0, 0, 0]:
            continue
        heights = [dot(n, sub(p, exact[i])) for p in exact]
        if all(h >= 0 for h in heights):
            n, heights = times(-1, n), [-h for h in heights]
        if all(h <= 0 for h in heights):
            faces[frozenset(m for m, h in enumerate(heights) if h == 0)] = n
    corners = [m for m in range(len(exact)) if sum(m in face for face in faces) >= 3]
    pairs = itertools.combinations(corners, 2)
    edges = [(a, b) for a, b in pairs if sum(a in face and b in face for face in faces) == 2]
    assert len(corners) - len(edges) + len(faces) == 2, points
    return corners, list(faces.values()), edges


def turn(q):
    """The columns of the rotation of a quaternion, scalar first, normalised."""
    q = [mpf(x) for x in q]
    w, x, y, z = times(1 / sqrt(dot(q, q)), q)
    return [
        [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)],
        [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)],
        [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)],
    ]


def real(x):
    return mpf(x.numerator) / mpf(x.denominator) if isinstance(x, Fraction) else mpf(x)


class Placed:
    """Corners, normals and edge vectors in the world."""

    def __init__(self, points, pose):
        axes = turn(pose["orientation"])
        turned = lambda v: [sum(axes[k][i] * real(v[k]) for k in range(3)) for i in range(3)]
        corners, normals, edges = hull(points)
        place = [mpf(x) for x in pose["position"]]
        self.corners = [add(turned(points[k]), place) for k in corners]
        self.normals = [turned(n) for n in normals]
        at = dict(zip(corners, self.corners))
        self.edges = [(at[a], at[b]) for a, b in edges]


def candidates(one, two):
    yield from one.normals
    yield from (times(-1, n) for n in two.normals)
    for (a, b), (c, d) in itertools.product(one.edges, two.edges):
        n = cross(sub(b, a), sub(d, c))
        yield n
        yield times(-1, n)
    for p, q in itertools.product(one.corners, two.corners):
        yield sub(q, p)
    for edges, corners, sign in [(one.edges, two.corners, 1), (two.edges, one.corners, -1)]:
        for (a, b), p in itertools.product(edges, corners):
            e, d = sub(b, a), sub(p, a)
            yield times(sign, sub(d, times(dot(d, e) / dot(e, e), e)))


def separation(one, two, n, root):
    size = root(dot(n, n))
    return (min(dot(n, q) for q in two) - max(dot(n, p) for p in one)) / size if size > 1e-12 else -math.inf


def gap(one, two):
    # Roughly for all, exactly for the best.
    rough = [[[float(x) for x in p] for p in body.corners] for body in (one, two)]
    found = [(separation(*rough, [float(x) for x in n], math.sqrt), n) for n in candidates(one, two)]
    best = max(value for value, _ in found)
    return max(separation(one.corners, two.corners, n, sqrt) for value, n in found if value > best - 1e-9)


def between(low, high):
    return round(source.uniform(low, high), 3)


def random_points():
    kind = source.randrange(4)
    a, b, c = (between(0.3, 1.2) for _ in range(3))
    if kind == 0:
        return [[between(-1, 1) for _ in range(3)] for _ in range(source.randrange(4, 11))]
    if kind == 1:
        # A wedge: a prism on a triangle.
        return [[x, y, z] for x, y in [(-a, -b), (a, -b), (0.25, b)] for z in (-c, c)]
    if kind == 2:
        return [[a, 0, 0], [-a, 0, 0], [0, b, 0], [0, -b, 0], [0, 0, c], [0, 0, -c]]
    corners = [[x, y, z] for x in (-a, a) for y in (-b, b) for z in (-c, c)][:-1]
    # A box with a corner cut off.
    return corners + [[a / 2, b, c], [a, b / 2, c], [a, b, c / 2]]


def random_pose(reach):
    place = [between(-reach, reach) for _ in range(3)]
    q = [between(-1, 1) for _ in range(4)]
    if source.random() < 0.4:
        # Faces and edges parallel.
        q = source.choice([[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0], [1, 0, 0, 1], [1, 1, 1, 1]])
    return {"position": place, "orientation": q}


def slice_moments(points, edges, z):
    """∫1, ∫x, ∫y, ∫xx, ∫xy, ∫yy over the slice at z."""
    cut = []
    for a, b in edges:
        (p, q) = (points[a], points[b])
        if (p[2] - z) * (q[2] - z) < 0:
            t = (z - p[2]) / (q[2] - p[2])
            cut.append((p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])))
    mx, my = (sum(p[i] for p in cut) / len(cut) for i in range(2))
    cut.sort(key=lambda p: mp.atan2(p[1] - my, p[0] - mx))
    sums = [mpf(0)] * 6
    for (x, y), (u, v) in zip(cut, cut[1:] + cut[:1]):
        w = x * v - u * y
        terms = [
            w / 2,
            w * (x + u) / 6,
            w * (y + v) / 6,
            w * (x * x + x * u + u * u) / 12,
            w * (x * v + 2 * x * y + 2 * u * v + u * y) / 24,
            w * (y * y + y * v + v * v) / 12,
        ]
        sums = [s + t for s, t in zip(sums, terms)]
    return sums


# Gauss and Legendre's four points: exact to degree seven.
inner, outer = (sqrt(mpf(3) / 7 + s * mpf(2) / 7 * sqrt(mpf(6) / 5)) for s in (-1, 1))
heavy, light = ((18 + s * sqrt(mpf(30))) / 36 for s in (1, -1))
RULE = [(-outer, light), (-inner, heavy), (inner, heavy), (outer, light)]


def mass(points):
    corners, _, edges = hull(points)
    points = [[mpf(x) for x in p] for p in points]
    levels = sorted({points[k][2] for k in corners})
    total = [mpf(0)] * 10
    for low, high in zip(levels, levels[1:]):
        for x, weight in RULE:
            z = (low + high) / 2 + x * (high - low) / 2
            a, sx, sy, xx, xy, yy = slice_moments(points, edges, z)
            row = [a, sx, sy, a * z, xx, yy, a * z * z, xy, sy * z, sx * z]
            total = [t + weight * (high - low) / 2 * r for t, r in zip(total, row)]
    volume = total[0]
    c = [t / volume for t in total[1:4]]
    xx, yy, zz, xy, yz, zx = [t / volume for t in total[4:]]
    xx, yy, zz = xx - c[0] ** 2, yy - c[1] ** 2, zz - c[2] ** 2
    xy, yz, zx = xy - c[0] * c[1], yz - c[1] * c[2], zx - c[2] * c[0]
    return volume, c, [yy + zz, zz + xx, xx + yy, -xy, -yz, -zx]


def digits(x):
    return mp.nstr(x, 50)


def main():
    gaps = []
    count = {"apart": 90, "close": 60, "deep": 50}
    while any(count.values()):
        shapes = [{"vertices": random_points(), "rounding": source.choice([0, 0, 0.1])} for _ in range(2)]
        poses = [random_pose(0.2), random_pose(1.6)]
        placed = [Placed(s["vertices"], p) for s, p in zip(shapes, poses)]
        found = gap(*placed)
        kind = "apart" if found > 0.01 else "deep"
        if count["close"] and source.random() < 0.4 and found > 0.01:
            # Towards the first, to all but touch: along the line of positions, then measured again.
            kind = "close"
            away = sub(poses[1]["position"], poses[0]["position"])
            for _ in range(60):
                step = found / sqrt(dot(away, away))
                poses[1]["position"] = [float(x - step * d) for x, d in zip(poses[1]["position"], away)]
                found = gap(placed[0], Placed(shapes[1]["vertices"], poses[1]))
                if found < 1e-7:
                    break
            if found > 1e-7:
                continue
        elif kind == "deep" and found > -0.01:
            continue
        if not count[kind]:
            continue
        count[kind] -= 1
        reach = sum(mpf(s["rounding"]) for s in shapes)
        gaps.append({"shapes": shapes, "poses": poses, "gap": digits(found - reach)})
    masses = []
    for points in [[[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]] + [random_points() for _ in range(9)]:
        volume, centre, inertia = mass(points)
        masses.append(
            {"vertices": points, "volume": digits(volume), "centre": [digits(x) for x in centre], "unit_inertia": [digits(x) for x in inertia]}
        )
    rows = {name: ",\n".join("  " + json.dumps(row) for row in rows) for name, rows in [("gaps", gaps), ("mass", masses)]}
    print('{"source": "polyhedra.py, 60 digits",\n "gaps": [\n%s],\n "mass": [\n%s]}' % (rows["gaps"], rows["mass"]))


main()
