"""Gaps of pairs of bodies to 50 digits, from 70.

    python3 generate.py > gap_table.json     (needs mpmath and numpy; checked with 1.3.0 and 2.4.6; half a minute)

The gap is g = max over unit n of f(n) = n·(c₂ − c₁) − h₁(n) − h₂(−n), h the support functions. Every pair is built so
that a normal is known beforehand; its centre is then rounded to doubles, which moves the answer, and the answer is
found again, by another method than the library's:

1. f on 6000 directions in doubles, and a pattern search from the best 24: near the global maximum.
2. The conditions of optimality as twelve equations in twelve unknowns, the surface points x₁, x₂ in body axes, the normal
   n, the gap g and the lengths of the gradients,

       d + R₂x₂ − R₁x₁ = g n,   ∇F₁(x₁) = m₁ R₁ᵀn,   ∇F₂(x₂) = −m₂ R₂ᵀn,   |n| = 1,   F₁ = F₂ = 0

   by Newton's method with 70 digits.

What is checked before a pair is kept: f(n), by the support functions alone, is g to 50 digits. Apart, so is |Q − P| of two
points on the surfaces, and f(n) ≤ distance ≤ |Q − P| is a proof. Overlapping, no direction of step 1 is higher.
"""
import json
import random
import sys

import numpy
from mpmath import mp, mpf, matrix, sqrt, nstr

mp.dps = 70
random.seed(11)
numpy.random.seed(11)
DIGITS = 50


def turn(q):
    w, x, y, z = q
    s = w * w + x * x + y * y + z * z
    return [[(w*w + x*x - y*y - z*z) / s, 2 * (x*y - w*z) / s, 2 * (x*z + w*y) / s],
            [2 * (x*y + w*z) / s, (w*w - x*x + y*y - z*z) / s, 2 * (y*z - w*x) / s],
            [2 * (x*z - w*y) / s, 2 * (y*z + w*x) / s, (w*w - x*x - y*y + z*z) / s]]


def times(m, v):
    return [sum(m[i][j] * v[j] for j in range(3)) for i in range(3)]


def back(m, v):
    return [sum(m[j][i] * v[j] for j in range(3)) for i in range(3)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def unit(v):
    s = sqrt(dot(v, v))
    return [x / s for x in v]


class Body:
    """Σ|x_i/a_i|^p ≤ 1, turned and placed; all given numbers are doubles."""

    def __init__(self, axes, exponent, quaternion):
        self.axes, self.exponent, self.quaternion = axes, exponent, quaternion
        self.a = [mpf(x) for x in axes]
        self.p = mpf(exponent)
        self.R = turn([mpf(x) for x in quaternion])
        self.Rd = numpy.array(turn(quaternion))
        self.ad = numpy.array(axes)

    def height(self, n):
        y = [abs(a * c) for a, c in zip(self.a, back(self.R, n))]
        top = max(y)
        q = self.p / (self.p - 1)
        return top * sum((c / top) ** q for c in y) ** (1 / q)

    def heights(self, n):
        """h in doubles for the rows of n."""
        y = abs(n @ self.Rd * self.ad)
        q = self.exponent / (self.exponent - 1)
        top = y.max(axis=1)
        return top * ((y / top[:, None]) ** q).sum(axis=1) ** (1 / q)

    def support(self, n):
        """In body axes."""
        y = [a * c for a, c in zip(self.a, back(self.R, n))]
        top = max(abs(c) for c in y)
        q = self.p / (self.p - 1)
        w = [abs(c) / top for c in y]
        s = sum(c ** q for c in w) ** (1 / self.p)
        return [a * c ** (q - 1) / s * (1 if v >= 0 else -1) for a, c, v in zip(self.a, w, y)]

    def on_surface(self, x):
        u = [abs(c / a) for c, a in zip(x, self.a)]
        top = max(u)
        s = top * sum((c / top) ** self.p for c in u) ** (1 / self.p)
        return [c / s for c in x]

    def gradient(self, x):
        """∇F/p and the diagonal of ∇²F/p."""
        first, second = [], []
        for c, a in zip(x, self.a):
            u = abs(c / a)
            power = u ** (self.p - 2) if u > 0 else mpf(0 if self.p > 2 else 1)
            first.append(power * c / a / a)
            second.append((self.p - 1) * power / a / a)
        return first, second

    def implicit(self, x):
        return (sum(abs(c / a) ** self.p for c, a in zip(x, self.a)) - 1) / self.p

    def size(self):
        return max(self.axes)


def value(one, other, offset, n):
    return dot(n, offset) - one.height(n) - other.height([-c for c in n])


GRID = numpy.random.normal(size=(6000, 3))
GRID /= numpy.linalg.norm(GRID, axis=1)[:, None]


def highest(one, other, offset):
    """The maximum of f in doubles, and its place."""
    d = numpy.array([float(c) for c in offset])

    def f(n):
        return n @ d - one.heights(n) - other.heights(-n)

    axes = [m[:, k] for m in (one.Rd, other.Rd) for k in range(3)]
    axes += [numpy.cross(one.Rd[:, i], other.Rd[:, j]) for i in range(3) for j in range(3)]
    axes = numpy.array([v / numpy.linalg.norm(v) for v in axes if numpy.linalg.norm(v) > 1e-6])
    grid = numpy.concatenate([GRID, axes, -axes, [d / (numpy.linalg.norm(d) or 1) + (0, 0, 1e-9)]])
    grid /= numpy.linalg.norm(grid, axis=1)[:, None]
    heights = f(grid)
    best = numpy.argsort(heights)[-24:]
    n, at, step = grid[best], heights[best], numpy.full(len(best), 0.05)
    for _ in range(600):
        if step.max() < 1e-9:
            break
        # Turned at random, or a ridge is climbed in ever shorter steps.
        angle = numpy.arange(8) * numpy.pi / 4 + random.random()
        around = numpy.stack([numpy.cos(angle), numpy.sin(angle)], axis=1)
        across = numpy.cross(n, numpy.where(abs(n[:, :1]) > 0.7, [[0.0, 1.0, 0.0]], [[1.0, 0.0, 0.0]]))
        across /= numpy.linalg.norm(across, axis=1)[:, None]
        beside = numpy.cross(n, across)
        tried = n[:, None] + step[:, None, None] * (
            around[None, :, :1] * across[:, None] + around[None, :, 1:] * beside[:, None])
        tried /= numpy.linalg.norm(tried, axis=2)[:, :, None]
        found = f(tried.reshape(-1, 3)).reshape(len(n), 8)
        pick = found.argmax(axis=1)
        rows = numpy.arange(len(n))
        better = found[rows, pick] > at
        n = numpy.where(better[:, None], tried[rows, pick], n)
        at = numpy.where(better, found[rows, pick], at)
        step = numpy.where(better, step * 1.5, step * 0.5).clip(0, 0.3)
    k = at.argmax()
    return at[k], n[k]


def residual(one, other, offset, u):
    x1, x2, n, g, m1, m2 = u[0:3], u[3:6], u[6:9], u[9], u[10], u[11]
    P, Q = times(one.R, x1), times(other.R, x2)
    n1, n2 = back(one.R, n), back(other.R, n)
    g1, g2 = one.gradient(x1)[0], other.gradient(x2)[0]
    L1, L2 = one.size(), other.size()
    return ([offset[i] + Q[i] - P[i] - g * n[i] for i in range(3)]
            + [L1 * (g1[i] - m1 * n1[i]) for i in range(3)] + [L2 * (g2[i] + m2 * n2[i]) for i in range(3)]
            + [(dot(n, n) - 1) / 2, one.implicit(x1), other.implicit(x2)])


def newton(one, other, offset, u, floor):
    """One Newton step; the curvature of flat points is kept above a floor that no digit sees."""
    x1, x2, n, g, m1, m2 = u[0:3], u[3:6], u[6:9], u[9], u[10], u[11]
    (g1, s1), (g2, s2) = one.gradient(x1), other.gradient(x2)
    n1, n2 = back(one.R, n), back(other.R, n)
    L1, L2 = one.size(), other.size()
    J = matrix(12, 12)
    for i in range(3):
        for j in range(3):
            J[i, j] = -one.R[i][j]
            J[i, 3 + j] = other.R[i][j]
            J[3 + i, 6 + j] = -L1 * m1 * one.R[j][i]
            J[6 + i, 6 + j] = L2 * m2 * other.R[j][i]
        J[i, 6 + i] = -g
        J[i, 9] = -n[i]
        J[3 + i, i] = L1 * (s1[i] + floor)
        J[3 + i, 10] = -L1 * n1[i]
        J[6 + i, 3 + i] = L2 * (s2[i] + floor)
        J[6 + i, 11] = L2 * n2[i]
        J[9, 6 + i] = n[i]
        J[10, i] = g1[i]
        J[11, 3 + i] = g2[i]
    return mp.lu_solve(J, -matrix(residual(one, other, offset, u)))


def solve(one, other, offset, start):
    """Newton from the points and the normal of a start, halved where it leads away; None if it does not converge."""
    n, x1, x2 = start
    def steep(body, x):
        return sqrt(dot(body.gradient(x)[0], body.gradient(x)[0]))
    gap = value(one, other, offset, n)
    u = list(x1) + list(x2) + list(n) + [gap, steep(one, x1), steep(other, x2)]
    error = max(abs(c) for c in residual(one, other, offset, u))
    for _ in range(260):
        n = unit(u[6:9])
        if error < mpf(10) ** -66 or abs(value(one, other, offset, n) - u[9]) + error < mpf(10) ** -60:
            break
        try:
            step = newton(one, other, offset, u, mpf(10) ** -64)
        except ZeroDivisionError:
            break
        part = mpf(1)
        while part > mpf(1) / 2000:
            tried = [a + part * b for a, b in zip(u, step)]
            wrong = max(abs(c) for c in residual(one, other, offset, tried))
            if wrong < error:
                break
            part /= 2
        else:
            break
        u, error = tried, wrong
    n = unit(u[6:9])
    return value(one, other, offset, n), n, one.on_surface(u[0:3]), other.on_surface(u[3:6])


def certified(one, other, offset, start):
    """(gap, normal), or None if the proof does not close."""
    size = max(one.size(), other.size(), max(abs(float(c)) for c in offset))
    top, place = highest(one, other, offset)
    n = start[0]
    if float(value(one, other, offset, n)) < top - 1e-12 * size:
        # The normal it was built with is not the highest: start from the one that is.
        n = unit([mpf(float(c)) for c in place])
        start = (n, one.support(n), other.support([-c for c in n]))
    gap, n, x1, x2 = solve(one, other, offset, start)
    P, Q = times(one.R, x1), times(other.R, x2)
    between = [o + q - p for o, q, p in zip(offset, Q, P)]
    if gap > 0:
        tight = abs(sqrt(dot(between, between)) - gap)
    else:
        tight = sqrt(sum((b - gap * c) ** 2 for b, c in zip(between, n)))
    if tight > mpf(10) ** -(DIGITS + 1) * size:
        return None
    if float(gap) < top - 2e-13 * size:
        return None
    return gap, n


def doubles(v):
    return [float(c) for c in v]


def quaternion():
    return [random.gauss(0, 1) for _ in range(4)]


def after(q, r):
    """The turn r, then q."""
    a, b, c, d = q
    e, f, g, h = r
    return [a*e - b*f - c*g - d*h, a*f + b*e + c*h - d*g, a*g - b*h + c*e + d*f, a*h + b*g - c*f + d*e]


def axes(spread):
    return [10 ** random.uniform(-spread / 2, spread / 2) for _ in range(3)]


# Turns of the cube, by which one body's flats face another's.
CUBE = [[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1], [1, 1, 1, 1], [0, 1, 1, 0], [0, 0, 1, 0]]

GAPS = [-0.3, -0.1, -1e-2, -1e-4, -1e-7, -1e-10, -1e-13, 1e-13, 1e-11, 1e-8, 1e-5, 1e-3, 0.03, 0.5, 3.0, 40.0, 1e3]


def built(kind, k):
    """Bodies, offset and a start for one pair."""
    exponents = [2.0, 2.5, 4.0, 6.0, 10.0, 20.0]
    pick = [exponents[k % 6], exponents[(k // 6 + k) % 6]]
    shape = [axes(1.0), axes(1.0)]
    q = [quaternion(), quaternion()]
    gap = GAPS[k % len(GAPS)]
    n = None
    if kind == "sphere":
        shape[1], pick[1] = [random.uniform(0.1, 2.0)] * 3, 2.0
    elif kind == "slender":
        # Longest to shortest exactly 100:1.
        for a in shape:
            a[:] = random.sample([100.0 * a[0], a[0], a[0] * 10 ** random.uniform(0, 2)], 3)
        gap *= min(shape[0] + shape[1])
    elif kind == "unequal":
        ratio = 10 ** random.choice([1, 2, 3, 4])
        shape[1] = [a * ratio for a in shape[1]]
    elif kind in ("pole", "ring", "near pole", "near ring"):
        pick = [max(pick[0], 2.5), pick[1]]
        q[1] = after(q[0], random.choice(CUBE)) if k % 3 else quaternion()
        if k % 3 == 1:
            q[1] = after(q[1], [1.0] + [random.uniform(-1, 1) * 10 ** -random.uniform(2, 9) for _ in range(3)])
    if kind == "exact pole":
        # No rounding anywhere: the contact is at the poles to every digit.
        pick = [max(pick[0], 2.5), max(pick[1], 2.5)]
        shape = [[random.randrange(4, 400) / 128 for _ in range(3)] for _ in range(2)]
        # Not deeper than the flat side is thick, so that it stays the nearest way out.
        gap = max(gap, -2.0 ** -6)
        gap = round(gap * 2 ** 46) / 2 ** 46
        q = [[1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]
        for a in shape:
            a[0], a[1] = a[0] + 1, a[1] + 1
        offset = [mpf(0), mpf(0), mpf(shape[0][2]) + mpf(shape[1][2]) + mpf(gap)]
        one, other = Body(shape[0], pick[0], q[0]), Body(shape[1], pick[1], q[1])
        n = [mpf(0), mpf(0), mpf(1)]
        return one, other, offset, (n, [mpf(0), mpf(0), one.a[2]], [mpf(0), mpf(0), -other.a[2]])
    one, other = Body(shape[0], pick[0], q[0]), Body(shape[1], pick[1], q[1])
    if kind in ("pole", "near pole", "ring", "near ring"):
        x = [random.uniform(-1, 1) for _ in range(3)]
        near = 0.0 if not kind.startswith("near") else 10 ** -random.uniform(1, 9)
        for i in ([0, 1] if "pole" in kind else [0]):
            x[i] = near * random.uniform(-1, 1)
        x[2] += 1.5
        x1 = one.on_surface([a * mpf(c) for a, c in zip(one.a, x)])
        n = unit(times(one.R, one.gradient(x1)[0]))
    else:
        n = unit([mpf(random.gauss(0, 1)) for _ in range(3)])
        x1 = one.support(n)
    x2 = other.support([-c for c in n])
    P, Q = times(one.R, x1), times(other.R, x2)
    offset = [mpf(float(p - o + mpf(gap) * c)) for p, o, c in zip(P, Q, n)]
    return one, other, offset, (n, x1, x2)


def plane(k):
    exponent = [2.0, 2.5, 4.0, 6.0, 10.0, 20.0][k % 6]
    a = axes(4.0 if k % 4 == 0 else 1.0)
    q = quaternion() if k % 3 else random.choice([[float(c) for c in t] for t in CUBE])
    body = Body(a, exponent, q)
    normal = [random.gauss(0, 1) for _ in range(3)] if k % 2 else random.choice(
        [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, -2.0, 0.0], [0.6, 0.0, 0.8]])
    n = unit([mpf(c) for c in normal])
    centre = [random.uniform(-2, 2) for _ in range(3)]
    down = body.height([-c for c in n])
    offset = float(dot(n, centre) - down - mpf(GAPS[k % len(GAPS)]))
    gap = dot(n, [mpf(c) for c in centre]) - mpf(offset) - down
    return {"kind": "plane", "shapes": [a + [exponent]], "turns": [q], "centre": centre,
            "plane": normal + [offset], "gap": nstr(gap, DIGITS), "normal": [float(c) for c in n]}


COUNTS = {"plain": 150, "sphere": 50, "slender": 70, "unequal": 60, "pole": 50, "near pole": 60, "ring": 50,
          "near ring": 60, "exact pole": 34}


def main():
    lines = []
    for kind, count in COUNTS.items():
        dropped = 0
        for k in range(count):
            for attempt in range(12):
                one, other, offset, start = built(kind, k)
                answer = certified(one, other, offset, start)
                if answer:
                    break
                dropped += 1
            else:
                sys.exit(f"no certified pair: {kind} {k}")
            gap, n = answer
            lines.append({"kind": kind, "shapes": [b.axes + [b.exponent] for b in (one, other)],
                          "turns": [b.quaternion for b in (one, other)], "centre": doubles(offset),
                          "gap": nstr(gap, DIGITS), "normal": doubles(n)})
        print(f"{kind}: {count} kept, {dropped} dropped", file=sys.stderr, flush=True)
    lines += [plane(k) for k in range(51)]
    print('{"about": "Gaps to 50 digits, made by generate.py. Shapes are semi-axes and exponent, turns quaternions '
          '(w, x, y, z) of any length, the first body at the origin and the second at the centre; before a plane '
          '(normal of any length, offset) the one body is at the centre.",\n"cases": [')
    print(",\n".join(json.dumps(line) for line in lines))
    print("]}")


if __name__ == "__main__":
    main()
