"""Derivatives of runs by differences in 45 digits, for runs.json: python runs.py > runs.json

Nothing of the engine is used. A body's rotation is integrated as a Taylor series of Euler's equations and of the quaternion; the time of
impact is a root of the gap's closed form (of a plane) or of Perram and Wertheim's contact function (of two ellipsoids), which also gives the
point and the normal; the impact is the formula for one smooth contact. A run is repeated with each number moved by ±10^-13, so that the
central difference is good to some 25 digits where nothing grows. With gmpy2 installed mpmath takes a few minutes.
"""
import json
import sys
from mpmath import mp, mpf, matrix

mp.dps = 45
STEP = mpf(10) ** -13
ORDER = 30


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def axes(q):
    w, x, y, z = q
    return [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]


def out(r, v):
    return [dot(r[i], v) for i in range(3)]


def into(r, v):
    return [sum(r[i][k] * v[i] for i in range(3)) for k in range(3)]


class Body:
    """Mass, semi-axes, position, quaternion, velocity, spin in the world."""

    def __init__(self, n):
        self.mass, self.a = n["mass"], n["semi_axes"]
        a = self.a
        self.inertia = [self.mass * (a[1] ** 2 + a[2] ** 2) / 5, self.mass * (a[2] ** 2 + a[0] ** 2) / 5,
                        self.mass * (a[0] ** 2 + a[1] ** 2) / 5]
        q = n["orientation"]
        length = mp.sqrt(dot(q, q))
        self.q = [x / length for x in q]
        self.x, self.v = list(n["position"]), list(n["velocity"])
        self.w = into(axes(self.q), n["angular_velocity"])

    def series(self):
        """Taylor coefficients of the spin in body axes and of the quaternion."""
        i1, i2, i3 = self.inertia
        share = [(i2 - i3) / i1, (i3 - i1) / i2, (i1 - i2) / i3]
        w, q = [[x] for x in self.w], [[x] for x in self.q]
        for n in range(ORDER):
            def product(a, b):
                return mp.fdot(a[: n + 1], reversed(b[: n + 1]))
            new = [share[k] * product(w[(k + 1) % 3], w[(k + 2) % 3]) / (n + 1) for k in range(3)]
            turned = [
                -product(q[1], w[0]) - product(q[2], w[1]) - product(q[3], w[2]),
                product(q[0], w[0]) + product(q[2], w[2]) - product(q[3], w[1]),
                product(q[0], w[1]) + product(q[3], w[0]) - product(q[1], w[2]),
                product(q[0], w[2]) + product(q[1], w[1]) - product(q[2], w[0]),
            ]
            for k in range(3):
                w[k].append(new[k])
            for k in range(4):
                q[k].append(turned[k] / (2 * (n + 1)))
        return w, q

    def flown(self, series, t, g):
        """The body a time within the series later."""
        other = object.__new__(Body)
        other.mass, other.a, other.inertia = self.mass, self.a, self.inertia
        w, q = series
        other.w = [mp.polyval(list(reversed(c)), t) for c in w]
        other.q = [mp.polyval(list(reversed(c)), t) for c in q]
        other.x = [x + v * t + a * t * t / 2 for x, v, a in zip(self.x, self.v, g)]
        other.v = [v + a * t for v, a in zip(self.v, g)]
        return other

    def state(self):
        q = self.q
        return self.x + q + self.v + out(axes(q), self.w)

    def span(self):
        """Within it the series is exact to some 40 digits."""
        return mpf("0.07") / (1 + max(abs(x) for x in self.w) * max(self.inertia) / min(self.inertia) / 4)


def plane_gap(body, plane):
    n = plane["normal"]
    own = into(axes(body.q), n)
    height = mp.sqrt(sum((a * c) ** 2 for a, c in zip(body.a, own)))
    arm = out(axes(body.q), [-a * a * c / height for a, c in zip(body.a, own)])
    rate = dot(n, [v + c for v, c in zip(body.v, cross(out(axes(body.q), body.w), arm))])
    return dot(n, body.x) - plane["offset"] - height, rate, arm


def quadric(body):
    r = axes(body.q)
    return matrix([[sum(r[i][k] * body.a[k] ** 2 * r[j][k] for k in range(3)) for j in range(3)] for i in range(3)])


def pair_contact(one, two):
    """Perram and Wertheim's function less one, the normal, and the point."""
    a, b = quadric(one), quadric(two)
    r = matrix([y - x for x, y in zip(one.x, two.x)])

    def function(s):
        solved = mp.lu_solve((1 - s) * a + s * b, r)
        return s * (1 - s) * (r.T * solved)[0], solved

    def slope(s):
        c = function(s)[1]
        # d/ds s(1-s) r.C^-1 r = (1-2s) r.c - s(1-s) c.(B-A) c.
        return (1 - 2 * s) * (r.T * c)[0] - s * (1 - s) * (c.T * (b - a) * c)[0]

    s = mp.findroot(slope, (mpf("0.4"), mpf("0.6")), solver="secant", tol=mpf(10) ** (-1.8 * mp.dps), maxsteps=60)
    value, c = function(s)
    length = mp.sqrt((c.T * c)[0])
    # From the first centre the point is (1-s) A c.
    point = [one.x[k] + (1 - s) * (a * c)[k] for k in range(3)]
    return value - 1, [c[k] / length for k in range(3)], point


def strike(bodies, normal, arms, restitution):
    """The smooth impact of one body with a plane (the first is None), or of two."""
    y, m = mpf(0), mpf(0)
    for sign, body, arm in zip((-1, 1), bodies, arms):
        if body is None:
            continue
        r = axes(body.q)
        turn = into(r, cross(arm, normal))
        y += sign * (dot(normal, body.v) + dot(into(r, cross(arm, normal)), body.w))
        m += 1 / body.mass + sum(t * t / i for t, i in zip(turn, body.inertia))
    impulse = -(1 + restitution) * y / m
    for sign, body, arm in zip((-1, 1), bodies, arms):
        if body is None:
            continue
        turn = into(axes(body.q), cross(arm, normal))
        body.v = [v + sign * impulse * n / body.mass for v, n in zip(body.v, normal)]
        body.w = [w + sign * impulse * t / i for w, t, i in zip(body.w, turn, body.inertia)]


def root(f, low, high):
    """A root of a smooth function between two times, by bisection and the secant method."""
    a, b = f(low), f(high)
    for _ in range(12):
        middle = (low + high) / 2
        c = f(middle)
        if c > 0:
            low, a = middle, c
        else:
            high, b = middle, c
    x0, f0, x1, f1 = low, a, high, b
    for _ in range(40):
        if f1 == f0:
            break
        x0, f0, x1 = x1, f1, x1 - f1 * (x1 - x0) / (f1 - f0)
        f1 = f(x1)
        if abs(x1 - x0) < mpf(10) ** (3 - mp.dps):
            break
    return x1


def run(n, until, impacts):
    """The final states and the times of the impacts."""
    bodies = [Body(b) for b in n["bodies"]]
    g, planes = n["gravity"], n["planes"]
    now, times = mpf(0), []
    parted = None
    while True:
        step = min(min(body.span() for body in bodies), until - now)
        series = [body.series() for body in bodies]

        def at(t):
            return [body.flown(s, t, g) for body, s in zip(bodies, series)]

        def gaps(t):
            there = at(t)
            found = {("plane", k, b): plane_gap(body, p)[0] for k, p in enumerate(planes) for b, body in enumerate(there)}
            if len(there) == 2:
                found["pair"] = pair_contact(*there)[0]
            return found

        # A contact just made opens first: looked at from a little later.
        begin = mpf(0)
        ends = gaps(step)
        closed = [key for key, gap in ends.items() if gap < 0]
        if closed:
            def first(key):
                low = step / 64 if key == parted else begin
                return root(lambda t: gaps(t)[key], low, step)
            hit, key = min(((first(key), str(key)), key) for key in closed)
            hit = hit[0]
            bodies, now = at(hit), now + hit
            if key == "pair":
                _, normal, point = pair_contact(*bodies)
                arms = [[p - x for p, x in zip(point, body.x)] for body in bodies]
                strike(bodies, normal, arms, n["restitution"])
            else:
                _, k, b = key
                arm = plane_gap(bodies[b], planes[k])[2]
                strike([None, bodies[b]], planes[k]["normal"], [None, arm], n["restitution"])
            times.append(now)
            parted = key
            if len(times) > impacts:
                raise ValueError("more impacts than expected")
            continue
        bodies, now, parted = at(step), now + step, None
        if now >= until:
            break
    if len(times) != impacts:
        raise ValueError(f"{len(times)} impacts, not {impacts}: {[mp.nstr(t, 8) for t in times]}")
    return [body.state() for body in bodies], times


def numbers(case):
    """A case's numbers as multiple-precision ones (each the double that the program reads)."""
    def convert(x):
        return [convert(y) for y in x] if isinstance(x, list) else {k: convert(y) for k, y in x.items()} if isinstance(x, dict) else mpf(x)
    return {k: convert(case[k]) for k in ("bodies", "planes", "gravity", "restitution")}


def moved(n, path, by):
    def copy(x):
        return [copy(y) for y in x] if isinstance(x, list) else {k: copy(y) for k, y in x.items()} if isinstance(x, dict) else x
    n = copy(n)
    if path == "surface.restitution":
        n["restitution"] += by
    elif path.startswith("world.gravity"):
        n["gravity"][int(path[-2])] += by
    elif path.startswith("plane."):
        n["planes"][0]["offset"] += by
    else:
        _, name, field = path.split(".", 2)
        body = n["bodies"]["ab".index(name)]
        if field == "mass":
            body["mass"] += by
        else:
            field, index = field.replace("shape.ellipsoid.", "").split("[")
            body[field][int(index[:-1])] += by
    return n


def paths(case):
    found = []
    for name, _ in zip("ab", case["bodies"]):
        for field, count in (("position", 3), ("orientation", 4), ("velocity", 3), ("angular_velocity", 3)):
            found += [f"body.{name}.{field}[{k}]" for k in range(count)]
        found += [f"body.{name}.mass"] + [f"body.{name}.shape.ellipsoid.semi_axes[{k}]" for k in range(3)]
    found += ["world.gravity[0]", "world.gravity[2]", "surface.restitution"]
    return found + (["plane.floor.offset"] if case["planes"] else [])


# What the longer runs are differentiated by.
SOME = {
    "pair": [
        "body.a.position[0]", "body.a.orientation[1]", "body.a.orientation[2]", "body.a.velocity[0]", "body.a.angular_velocity[1]",
        "body.a.mass", "body.a.shape.ellipsoid.semi_axes[1]", "body.b.orientation[3]", "body.b.angular_velocity[0]",
        "body.b.shape.ellipsoid.semi_axes[0]", "surface.restitution",
    ],
    "tumbling_10": [
        "body.a.position[2]", "body.a.orientation[1]", "body.a.velocity[0]", "body.a.angular_velocity[1]", "body.a.mass",
        "body.a.shape.ellipsoid.semi_axes[0]", "surface.restitution", "plane.floor.offset",
    ],
}
TUMBLING = {
    "bodies": [{
        "mass": 1.3, "semi_axes": [0.5, 0.3, 0.2], "position": [0, 0, 1.1], "orientation": [1, 0, 0, 0],
        "velocity": [0.3, -0.1, 0.2], "angular_velocity": [1.1, 2.3, -0.7],
    }],
    "planes": [{"normal": [0, 0, 1], "offset": 0.05}],
    "gravity": [0.1, 0, -9.81],
    "restitution": 0.9,
}
PAIR = {
    "bodies": [
        {"mass": 1.0, "semi_axes": [0.6, 0.4, 0.3], "position": [-1.2, 0.05, 0], "orientation": [1, 0, 0, 0],
         "velocity": [1.1, 0, 0.1], "angular_velocity": [0.5, 1.5, -0.8]},
        {"mass": 1.7, "semi_axes": [0.35, 0.7, 0.45], "position": [1.1, 0, 0.1], "orientation": [1, 0, 0, 0],
         "velocity": [-0.4, 0.1, 0], "angular_velocity": [-1.1, 0.4, 0.9]},
    ],
    "planes": [],
    "gravity": [0, 0, 0],
    "restitution": 0.8,
}
CASES = [
    ("tumbling_1", TUMBLING, 0.45, 1),
    ("pair", PAIR, 1.5, 1),
    ("tumbling_3", TUMBLING, 1.15, 3),
    ("tumbling_10", TUMBLING, 2.88, 10),
]


def main():
    found = []
    for name, case, until, impacts in CASES:
        if len(sys.argv) > 1 and name not in sys.argv[1:]:
            continue
        n = numbers(case)
        states, times = run(n, mpf(until), impacts)
        columns = []
        for path in SOME.get(name, paths(case)):
            up, up_times = run(moved(n, path, STEP), mpf(until), impacts)
            down, down_times = run(moved(n, path, -STEP), mpf(until), impacts)
            slope = lambda a, b: mp.nstr((a - b) / (2 * STEP), 20)
            columns.append({
                "path": path,
                "final": [[slope(a, b) for a, b in zip(p, m)] for p, m in zip(up, down)],
                "times": [slope(a, b) for a, b in zip(up_times, down_times)],
            })
        found.append({
            "name": name, "scene": case, "until": until,
            "final": [[mp.nstr(x, 20) for x in state] for state in states],
            "times": [mp.nstr(t, 20) for t in times], "derivatives": columns,
        })
        print(name, file=sys.stderr, flush=True)
    print(json.dumps({"made": "runs.py: mpmath, 45 digits, central differences with a step of 1e-13", "cases": found}, indent=0))


if __name__ == "__main__":
    main()
