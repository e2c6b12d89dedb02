"""Contact points of slender ellipsoids on superellipsoids to 34 digits, from 70.

    python3 slender.py > slender.json     (needs mpmath and numpy, as generate.py; a minute)

Aspects up to 1000 and exponents from 2 to 1000, on faces, edges and corners, apart, touching and in overlaps within the
rolling radius of the ellipsoid. A pair is built about a surface point; its centre is rounded to doubles, and its points
are found again by the equations of generate.py, which know nothing of how the pair was built.

What is checked before a pair is kept: f(n), by the support functions alone, is g to 40 digits, and so is Q − P − g n.
With both, the points are the only ones.
"""
import json
import random

from mpmath import mpf, nstr, sqrt

from generate import Body, back, doubles, dot, quaternion, solve, times, unit, value

random.seed(12)
DIGITS = 34
COUNT = 200
GAPS = [0.0, 1e-13, 1e-9, 1e-4, 0.1, 1.0, 10.0, -0.5]


def spread(low, high):
    return low * (high / low) ** random.random()


def axes():
    thin = spread(1e-3, 1.0)
    return random.sample([thin, random.choice([thin, 1.0, spread(thin, 1.0)]), 1.0], 3)


def spot(body):
    """A surface point in body axes: flat along some axes, and by the weights of the normal along the rest."""
    p = body.p
    q = p / (p - 1)
    sharp = random.randrange(3)
    u, weights = [mpf(0)] * 3, [mpf(0)] * 3
    for i in range(3):
        if i != sharp and random.random() < 0.6:
            u[i] = mpf(random.uniform(-1, 1)) * mpf("0.4") ** (1 / p)
        else:
            weights[i] = mpf(random.choice([-1, 1]) if i == sharp else random.uniform(-1, 1))
    rest = 1 - sum(abs(c) ** p for c in u)
    factor = (rest / sum(abs(c) ** q for c in weights)) ** (1 / q)
    for i in range(3):
        if weights[i]:
            u[i] = abs(weights[i] * factor) ** (1 / (p - 1)) * (1 if weights[i] > 0 else -1)
    return [a * c for a, c in zip(body.a, u)]


def built(k):
    one = Body(axes(), spread(2.0, 1000.0), quaternion())
    scale = 1.0 if k % 2 else spread(0.01, 100.0)
    other = Body([a * scale for a in axes()], 2.0, quaternion())
    gap = mpf(GAPS[k % len(GAPS)]) * min(scale, 1.0)
    if gap < 0:
        gap = -mpf(min(other.axes)) ** 2 / mpf(max(other.axes)) / 2
    x1 = spot(one)
    n = unit(times(one.R, one.gradient(x1)[0]))
    # The foot of an ellipsoid, a² n/h.
    local = [-c for c in back(other.R, n)]
    height = sqrt(sum((a * c) ** 2 for a, c in zip(other.a, local)))
    x2 = [a * a * c / height for a, c in zip(other.a, local)]
    P, Q = times(one.R, x1), times(other.R, x2)
    return one, other, [mpf(float(p - o + gap * c)) for p, o, c in zip(P, Q, n)], (n, x1, x2)


def answer(one, other, offset, start):
    gap, n, x1, x2 = solve(one, other, offset, start)
    P = times(one.R, x1)
    Q = [o + c for o, c in zip(offset, times(other.R, x2))]
    wrong = sqrt(sum((q - p - gap * c) ** 2 for p, q, c in zip(P, Q, n)))
    # Points on the surfaces, and gap = f(n): apart, f(n) ≤ distance ≤ |Q − P|.
    if wrong > mpf(10) ** -40 or abs(value(one, other, offset, n) - gap) > mpf(10) ** -40:
        return None
    return gap, n, P, Q


def main():
    lines = []
    k = 0
    while len(lines) < COUNT:
        one, other, offset, start = built(k)
        k += 1
        found = answer(one, other, offset, start)
        if not found:
            continue
        gap, n, P, Q = found
        lines.append({"shapes": [b.axes + [b.exponent] for b in (one, other)],
                      "turns": [b.quaternion for b in (one, other)], "centre": doubles(offset),
                      "gap": nstr(gap, DIGITS), "normal": [nstr(c, DIGITS) for c in n],
                      "points": [[nstr(c, DIGITS) for c in x] for x in (P, Q)]})
    print('{"about": "Contact points to 34 digits, made by slender.py. Shapes are semi-axes and exponent, turns quaternions '
          '(w, x, y, z) of any length, the first body at the origin and the second at the centre.",')
    print('"cases": [')
    print(",\n".join(json.dumps(line) for line in lines))
    print("]}")


if __name__ == "__main__":
    main()
