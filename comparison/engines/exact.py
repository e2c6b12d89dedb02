"""The answers themselves, with 40 digits, from nothing but the equations: what every engine, carom too, is measured by.

Flight: Taylor series of order 40 of Euler's equations I w' = (I w) x w and of q' = q w / 2 in body axes. A contact is a root of
the gap, n.x - offset - h with h^2 = sum (a_i (R^T n)_i)^2 for a plane and |x2 - x1| - r1 - r2 for balls, bracketed by
sampling and closed by bisection and secants. An impact solves W p = -(I + K) y on the rows of all contacts that touch (normals,
and the two tangents of a rough one), which is Newton's law with complementarity where no normal impulse pulls: that is
checked. Balls that touch have a second answer, the contacts one at a time.
"""

import mpmath
from mpmath import mp, mpf

from protocol import is_ball, product, serve, state, to_body, to_world

mp.dps = 40
ORDER = 40
# A piece of a flight is so long that the fastest series falls by a digit with every term.
PIECE = mpf(1) / 10
SAMPLE = mpf(1) / 100
TOUCHING = mpf(10) ** -30


class Body:
    def __init__(self, given):
        exact = lambda key: [mpf(value) for value in given[key]]
        self.name, self.mass, self.ball = given["name"], mpf(given["mass"]), is_ball(given)
        self.axes, self.inertia = exact("semi_axes"), exact("inertia")
        self.x, self.v = exact("position"), exact("velocity")
        q = exact("orientation")
        length = mpmath.sqrt(sum(part * part for part in q))
        self.q = [part / length for part in q]
        self.w = to_body(self.q, exact("angular_velocity"))

    def fly(self, gravity, time):
        """Carries the body through free flight, in pieces that the series converges in."""
        self.x = [x + v * time + g * time**2 / 2 for x, v, g in zip(self.x, self.v, gravity)]
        self.v = [v + g * time for v, g in zip(self.v, gravity)]
        pieces = max(1, int(mpmath.ceil(abs(time) / self.piece())))
        for _ in range(pieces):
            self.turn(time / pieces)

    def piece(self):
        speed = mpmath.sqrt(sum(w * w for w in self.w))
        return PIECE / (1 + speed)

    def turn(self, time):
        i1, i2, i3 = self.inertia
        factors = [(i2 - i3) / i1, (i3 - i1) / i2, (i1 - i2) / i3]
        w, q = [[part] for part in self.w], [[part] for part in self.q]
        for n in range(ORDER):
            turning = [part[::-1] for part in w]
            # Cauchy's products: the spin with itself, and the attitude with it.
            spins = [mpmath.fdot(zip(w[a], turning[b])) for a, b in [(1, 2), (2, 0), (0, 1)]]
            minus = [[-part for part in parts] for parts in q]
            rows = [[minus[1], minus[2], minus[3]], [q[0], minus[3], q[2]], [q[3], q[0], minus[1]], [minus[2], q[1], q[0]]]
            turns = [mpmath.fdot(pair for a, b in zip(row, turning) for pair in zip(a, b)) for row in rows]
            for part, factor, spin in zip(w, factors, spins):
                part.append(factor * spin / (n + 1))
            for part, turn in zip(q, turns):
                part.append(turn / (2 * (n + 1)))
        self.w, self.q = [[mpmath.polyval(part[::-1], time) for part in parts] for parts in (w, q)]
        length = mpmath.sqrt(sum(part * part for part in self.q))
        self.q = [part / length for part in self.q]

    def copy(self):
        other = object.__new__(Body)
        other.__dict__ = {key: list(value) if isinstance(value, list) else value for key, value in self.__dict__.items()}
        return other


def dot(a, b):
    return mpmath.fsum(x * y for x, y in zip(a, b))


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def touch(contact, bodies, planes):
    """The gap of a contact, its normal from first to second, and the arms of the two sides, where they are bodies."""
    first, second = contact["bodies"]
    if first in planes:
        plane, body = planes[first], bodies[second]
        n = [mpf(value) for value in plane["normal"]]
        inner = to_body(body.q, n)
        height = mpmath.sqrt(sum((a * c) ** 2 for a, c in zip(body.axes, inner)))
        arm = to_world(body.q, [-(a**2) * c / height for a, c in zip(body.axes, inner)])
        return dot(n, body.x) - mpf(plane["offset"]) - height, n, [(body, arm, 1)]
    one, two = bodies[first], bodies[second]
    assert one.ball and two.ball, "the exact answer knows balls and planes, and bodies at planes"
    apart = [b - a for a, b in zip(one.x, two.x)]
    distance = mpmath.sqrt(dot(apart, apart))
    n = [part / distance for part in apart]
    arms = [(one, [one.axes[0] * c for c in n], -1), (two, [-two.axes[0] * c for c in n], 1)]
    return distance - one.axes[0] - two.axes[0], n, arms


def tangents(n):
    least = min(range(3), key=lambda i: abs(n[i]))
    t = cross(n, [mpf(i == least) for i in range(3)])
    length = mpmath.sqrt(dot(t, t))
    t = [part / length for part in t]
    return [t, cross(n, t)]


class Row:
    """A row of a contact: y = sum over its bodies of sign (d.v + (r x d).w), and what an impulse along it does."""

    def __init__(self, direction, sides, restitution, normal):
        self.direction, self.restitution, self.normal = direction, mpf(restitution), normal
        self.sides = [(body, sign, to_body(body.q, cross(arm, direction))) for body, arm, sign in sides]

    def speed(self):
        return mpmath.fsum(s * (dot(self.direction, b.v) + dot(lever, b.w)) for b, s, lever in self.sides)

    def inertance(self, other):
        total = mpf(0)
        for body, sign, lever in self.sides:
            for body2, sign2, lever2 in other.sides:
                if body is body2:
                    turning = mpmath.fsum(a * b / j for a, b, j in zip(lever, lever2, body.inertia))
                    total += sign * sign2 * (dot(self.direction, other.direction) / body.mass + turning)
        return total

    def push(self, impulse):
        for body, sign, lever in self.sides:
            body.v = [v + sign * impulse * d / body.mass for v, d in zip(body.v, self.direction)]
            body.w = [w + sign * impulse * r / j for w, r, j in zip(body.w, lever, body.inertia)]


def resolve(rows):
    """All rows at once: W p = -(I + K) y."""
    w = mpmath.matrix(len(rows), len(rows))
    for i, a in enumerate(rows):
        for j, b in enumerate(rows):
            w[i, j] = a.inertance(b)
    y = mpmath.matrix([-(1 + row.restitution) * row.speed() for row in rows])
    p = mpmath.lu_solve(w, y)
    for row, impulse in zip(rows, p):
        assert not row.normal or impulse > 0, "an impulse pulls: the equality is not the law with complementarity"
        row.push(impulse)


def one_at_a_time(rows):
    for _ in range(100):
        closing = [row for row in rows if row.speed() < -TOUCHING]
        if not closing:
            return
        resolve(closing[:1])
    raise AssertionError("contacts taken one at a time keep closing")


def first_contact(bodies, planes, contacts, gravity, until):
    """The first time at which a contact closes, or none."""

    def moved(states, time):
        copies = {name: body.copy() for name, body in states.items()}
        for body in copies.values():
            body.fly(gravity, time)
        return copies

    start = mpf(0)
    while start < until:
        pause = min(SAMPLE, until - start)
        after = moved(bodies, pause)
        roots = []
        for contact in contacts:
            gap = lambda states: touch(contact, states, planes)[0]
            if gap(bodies) > TOUCHING and gap(after) < 0:
                inside = lambda time: gap(moved(bodies, time))
                roots.append(mpmath.findroot(inside, (0, pause), solver="anderson", tol=mpf(10) ** -70))
        if roots:
            return start + min(roots)
        bodies, start = after, start + pause
    return None


def simulate_with(request, law):
    gravity = [mpf(value) for value in request["gravity"]]
    bodies = {given["name"]: Body(given) for given in request["bodies"]}
    planes = {plane["name"]: plane for plane in request["planes"]}
    contacts, until, time = request["contacts"], mpf(request["until"]), mpf(0)
    impacts = []
    # Data are rounded to f64: what is meant to touch at the start does so to that.
    limit = mpf(10) ** -14
    while True:
        rows = []
        for contact in contacts:
            gap, n, sides = touch(contact, bodies, planes)
            if abs(gap) < limit:
                normal = Row(n, sides, contact["restitution"], True)
                rough = contact["surface"] == "rough"
                rows += [normal] + [Row(t, sides, contact["restitution"], False) for t in (tangents(n) if rough else [])]
        if any(row.normal and row.speed() < 0 for row in rows):
            law(rows)
            impacts.append(float(time))
        left = until - time
        flight = first_contact(bodies, planes, contacts, gravity, left)
        limit = TOUCHING
        for body in bodies.values():
            body.fly(gravity, left if flight is None else flight)
        if flight is None:
            break
        # Where balls touch from the start, the next one's contact is closed already.
        limit = mpf(10) ** -14
        time += flight
    final = {b.name: state(b.x, b.q, b.v, to_world(b.q, b.w)) for b in bodies.values()}
    return {"final": final, "impacts": impacts, "wall_s": 0.0}


def simulate(request, step):
    """The step is not used: an answer is an answer."""
    if step != request["steps"][0]:
        return []
    answers = [{**simulate_with(request, resolve), "choice": "at once"}]
    if len(request["bodies"]) > 1:
        answers.append({**simulate_with(request, one_at_a_time), "choice": "one at a time"})
    return answers


if __name__ == "__main__":
    serve("exact", "mpmath " + mpmath.__version__, "40 digits", simulate, lambda request: None, warm_up=False)
