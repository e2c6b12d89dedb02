"""Times of impact of ellipsoids that spin near the separatrix, to 30 digits.

    python3 separatrix.py > separatrix.json        (needs nothing but Python)

Euler's equations and those of the quaternion are integrated by Taylor series in fixed-point integers of 220 bits, from the numbers as
they stand in the file: the doubles nearest to its decimals, the quaternion and the plane's normal of any length. The time is the zero of
n·c - offset - h(R^T n) by Newton's method on the step in which the gap changes sign first.
"""
import json
import math
import random
from fractions import Fraction

BITS = 220
ONE = 1 << BITS
ORDER = 64


def fixed(x):
    """A double as it is, to 220 bits."""
    f = Fraction(x)
    return f.numerator * ONE // f.denominator


def mul(a, b):
    return (a * b) >> BITS


def div(a, b):
    return (a << BITS) // b


def root(a):
    return math.isqrt(a << BITS)


def series(moments, spin, q, h):
    """The coefficients of spin and quaternion in the time over h."""
    i, j, k = moments
    shares = [div(j - k, i), div(k - i, j), div(i - j, k)]
    w = [[x] for x in spin]
    r = [[x] for x in q]
    for n in range(ORDER):
        def conv(a, b):
            return sum(a[m] * b[n - m] for m in range(n + 1)) >> BITS
        new = [mul(mul(shares[0], conv(w[1], w[2])), h) // (n + 1),
               mul(mul(shares[1], conv(w[2], w[0])), h) // (n + 1),
               mul(mul(shares[2], conv(w[0], w[1])), h) // (n + 1)]
        a, b, c, d = r
        x, y, z = w
        turn = [-conv(b, x) - conv(c, y) - conv(d, z),
                conv(a, x) + conv(c, z) - conv(d, y),
                conv(a, y) - conv(b, z) + conv(d, x),
                conv(a, z) + conv(b, y) - conv(c, x)]
        for m in range(3):
            w[m].append(new[m])
        for m in range(4):
            r[m].append(mul(turn[m], h) // (2 * (n + 1)))
    return w, r


def value(coefficients, x):
    total = 0
    for c in reversed(coefficients):
        total = mul(total, x) + c
    return total


class Gap:
    def __init__(self, case):
        self.axes = [fixed(a) for a in case["semi_axes"]]
        self.position = [fixed(a) for a in case["position"]]
        self.velocity = [fixed(a) for a in case["velocity"]]
        normal = [fixed(a) for a in case["normal"]]
        size = root(sum(mul(a, a) for a in normal))
        self.normal = [div(a, size) for a in normal]
        self.offset = fixed(case["offset"])

    def at(self, t, q):
        w, x, y, z = q
        s = sum(mul(c, c) for c in q)
        n = self.normal
        rows = [[mul(w, w) + mul(x, x) - mul(y, y) - mul(z, z), 2 * (mul(x, y) + mul(w, z)), 2 * (mul(x, z) - mul(w, y))],
                [2 * (mul(x, y) - mul(w, z)), mul(w, w) - mul(x, x) + mul(y, y) - mul(z, z), 2 * (mul(y, z) + mul(w, x))],
                [2 * (mul(x, z) + mul(w, y)), 2 * (mul(y, z) - mul(w, x)), mul(w, w) - mul(x, x) - mul(y, y) + mul(z, z)]]
        own = [div(sum(mul(row[m], n[m]) for m in range(3)), s) for row in rows]
        height = root(sum(mul(mul(own[m], self.axes[m]), mul(own[m], self.axes[m])) for m in range(3)))
        place = sum(mul(n[m], self.position[m] + mul(self.velocity[m], t)) for m in range(3))
        return place - self.offset - height


def in_body_axes(q, v):
    w, x, y, z = q
    s = sum(mul(c, c) for c in q)
    rows = [[mul(w, w) + mul(x, x) - mul(y, y) - mul(z, z), 2 * (mul(x, y) + mul(w, z)), 2 * (mul(x, z) - mul(w, y))],
            [2 * (mul(x, y) - mul(w, z)), mul(w, w) - mul(x, x) + mul(y, y) - mul(z, z), 2 * (mul(y, z) + mul(w, x))],
            [2 * (mul(x, z) + mul(w, y)), 2 * (mul(y, z) - mul(w, x)), mul(w, w) - mul(x, x) - mul(y, y) + mul(z, z)]]
    return [div(sum(mul(row[m], v[m]) for m in range(3)), s) for row in rows]


def time_of_impact(case):
    """The first zero, to 30 digits, looked for at 32 places of every step."""
    q = [fixed(a) for a in case["orientation"]]
    moments = [fixed(a) for a in case["inertia"]]
    if "angular_velocity_body" in case:
        spin = [fixed(a) for a in case["angular_velocity_body"]]
    else:
        spin = in_body_axes(q, [fixed(a) for a in case["angular_velocity"]])
    fastest = math.sqrt(sum((a / ONE) ** 2 for a in spin)) * math.sqrt(max(case["inertia"]) / min(case["inertia"]))
    h = fixed(0.2 / fastest)
    gap = Gap(case)
    start = 0
    while start < 10 * ONE:
        w, r = series(moments, spin, q, h)
        at = lambda x: gap.at(start + mul(h, x), [value(c, x) for c in r])
        low = 0
        for k in range(1, 33):
            high = k * ONE // 32
            if at(high) <= 0:
                break
            low = high
        else:
            spin = [value(c, ONE) for c in w]
            q = [value(c, ONE) for c in r]
            start += h
            continue
        # The secant, kept in the bracket.
        a, b = at(low), at(high)
        for _ in range(200):
            x = low + div(mul(high - low, a), a - b)
            f = at(x)
            if abs(f) < 1 << (BITS - 120) or x in (low, high):
                break
            if f > 0:
                low, a, b = x, f, b // 2
            else:
                high, b, a = x, f, a // 2
        digits = (start + mul(h, x)) * 10 ** 30 // ONE
        return f"{digits // 10 ** 30}.{digits % 10 ** 30:030d}"
    return None


def draw(rng, k):
    if k == 0:
        return {"semi_axes": [1.0, 2.0, 3.0], "inertia": [2.6, 2.0, 1.0], "position": [0.0, 0.0, 8.0],
                "velocity": [0.0, 0.0, -4.0], "orientation": [0.5, 0.1, 0.7, 0.5],
                "angular_velocity_body": [2e-5, 20.0, 2e-5], "normal": [0.0, 0.0, 1.0], "offset": 0.0}
    while True:
        moments = sorted(round(rng.uniform(0.5, 3), 3) for _ in range(3))
        if moments[2] < 0.98 * (moments[0] + moments[1]) and moments[2] - moments[1] > 0.05 < moments[1] - moments[0]:
            break
    fast = rng.uniform(5, 25)
    spin = [rng.choice([-1, 1]) * fast * 10 ** rng.uniform(-10, -1), fast, rng.choice([-1, 1]) * fast * 10 ** rng.uniform(-10, -1)]
    order = rng.sample(range(3), 3)
    case = {"semi_axes": [round(rng.uniform(0.5, 3), 2) for _ in range(3)],
            "inertia": [moments[m] for m in order],
            "position": [round(rng.uniform(-5, 5), 3) for _ in range(3)],
            "orientation": [round(rng.gauss(0, 1), 3) for _ in range(4)],
            "normal": [round(rng.gauss(0, 1), 2) for _ in range(3)],
            "offset": round(rng.uniform(-2, 2), 2)}
    n = case["normal"]
    size = math.sqrt(sum(a * a for a in n))
    # Some four to eight lengths above the plane, and towards it.
    height = rng.uniform(4, 8)
    down = (sum(n[m] * case["position"][m] for m in range(3)) / size - case["offset"] - height) / size
    case["position"] = [round(case["position"][m] - down * n[m], 4) for m in range(3)]
    speed = rng.uniform(1, 4)
    case["velocity"] = [round(-speed * n[m] / size + rng.uniform(-1, 1), 3) for m in range(3)]
    spin = [spin[m] for m in order]
    if k % 2:
        case["angular_velocity_body"] = spin
    else:
        w, x, y, z = case["orientation"]
        s = w * w + x * x + y * y + z * z
        R = [[w*w + x*x - y*y - z*z, 2 * (x*y - w*z), 2 * (x*z + w*y)],
             [2 * (x*y + w*z), w*w - x*x + y*y - z*z, 2 * (y*z - w*x)],
             [2 * (x*z - w*y), 2 * (y*z + w*x), w*w - x*x - y*y + z*z]]
        case["angular_velocity"] = [sum(R[i][m] * spin[m] for m in range(3)) / s for i in range(3)]
    return case


if __name__ == "__main__":
    rng = random.Random(5)
    cases = []
    k = 0
    while len(cases) < 100:
        case = draw(rng, k)
        time = time_of_impact(case)
        if time is not None:
            case["time"] = time
            cases.append(case)
            k += 1
    print('{"source": "separatrix.py", "cases": [')
    print(",\n".join(json.dumps(case) for case in cases))
    print("]}")
