"""Derivatives of one impact with Coulomb friction by differences in 36 digits, for friction.json: python friction.py > friction.json

The passage of Darboux and Keller in the normal impulse p, dy/dp = W (1, -mu s), is integrated as a Taylor series in tau, dp = |y_t| dtau;
slip that stops is followed until it is below 10^-32, then sticks or slips on along the direction that it is driven to. Each of the
eleven inputs (W_nn, W_n1, W_n2, W_11, W_12, W_22, y_n, y_1, y_2, e, mu) is moved by +-10^-11.
"""
import json
import sys
from mpmath import mp, mpf

mp.dps = 36
STEP = mpf(10) ** -11
ORDER = 30


def polynomial(c, t):
    return mp.polyval(list(reversed(c)), t)


STOPS = {}


def passage(x, termination):
    """The impulse (n, t1, t2) and the modes gone through."""
    nn, n1, n2, a, b, d, yn, y1, y2, e, mu = x
    y, u, v = yn, y1, y2
    p, q1, q2, work = mpf(0), mpf(0), mpf(0), mpf(0)
    state = {"compression": None, "impulse": None}
    modes = []

    def goal(work, p, y):
        """Zero where restitution ends, below before."""
        if state["compression"] is None:
            return y
        if termination == "newton":
            return y + e * yn
        if termination == "poisson":
            return p - (1 + e) * state["impulse"]
        return work + e * e * state["compression"]

    def mark(p, work):
        state["compression"], state["impulse"] = work, p

    def note(mode):
        if not modes or modes[-1] != mode:
            modes.append(mode)

    slipping = u * u + v * v > mpf(10) ** -50
    if slipping:
        sigma = mp.sqrt(u * u + v * v)
        c, s = u / sigma, v / sigma
    key = tuple(x)
    if key in STOPS:
        y, p, q1, q2, work, known = STOPS[key]
        modes, slipping = list(known), False
    while slipping:
        C, S, G, Y, P, Q, R, K = [c], [s], [sigma], [y], [p], [q1], [q2], [work]
        U, V, F, T = [], [], [], []
        for k in range(ORDER):
            def product(f, g):
                return mp.fdot(f[: k + 1], reversed(g[: k + 1]))
            U.append(-mu * (a * C[k] + b * S[k]) + (n1 if k == 0 else 0))
            V.append(-mu * (b * C[k] + d * S[k]) + (n2 if k == 0 else 0))
            F.append(product(C, U) + product(S, V))
            T.append(product(C, V) - product(S, U))
            i = mpf(1) / (k + 1)
            P.append(G[k] * i)
            Q.append(-mu * product(G, C) * i)
            R.append(-mu * product(G, S) * i)
            K.append(product(Y, G) * i)
            C.append(-product(S, T) * i)
            S.append(product(C[: k + 1], T) * i)
            Y.append(nn * P[k + 1] + n1 * Q[k + 1] + n2 * R[k + 1])
            G.append(product(G, F) * i)
        size = max(abs(C[-1]), abs(S[-1]), abs(G[-1]) / sigma, abs(Y[-1]) / (abs(yn)))
        h = min((mpf(10) ** -36 / size) ** (mpf(1) / ORDER), mpf(1)) if size > 0 else mpf(1)
        f = lambda t: goal(polynomial(K, t), polynomial(P, t), polynomial(Y, t))
        # y_n may fall first (a jam): the sign of the goal at the end of a short step decides.
        note("jam" if Y[1] < 0 else "slip")
        if f(h) > 0:
            low, high = mpf(0), h
            for _ in range(8):
                middle = (low + high) / 2
                low, high = (low, middle) if f(middle) > 0 else (middle, high)
            t = mp.findroot(f, (low, high), solver="secant", tol=mpf(10) ** -66, maxsteps=60)
        else:
            t = None
        at = h if t is None else t
        c, s, sigma, y, p, q1, q2, work = [polynomial(z, at) for z in (C, S, G, Y, P, Q, R, K)]
        if t is not None:
            if state["compression"] is None:
                mark(p, work)
                work = mpf(0)
                if e == 0:
                    return [p, q1, q2], modes
                continue
            return [p, q1, q2], modes
        slipping = sigma > mpf(10) ** -32
        if not slipping and state["compression"] is None:
            # Up to here the terminations are one.
            STOPS[key] = (y, p, q1, q2, work, list(modes))
    determinant = a * d - b * b
    h1, h2 = (d * n1 - b * n2) / determinant, (a * n2 - b * n1) / determinant
    if not modes:
        # A slip too small to count: it is stopped at once.
        k1, k2 = (d * u - b * v) / determinant, (a * v - b * u) / determinant
        q1, q2, y = -k1, -k2, y - n1 * k1 - n2 * k2
    if mp.sqrt(h1 * h1 + h2 * h2) <= mu:
        note("stick")
        r1, r2 = -h1, -h2
    else:
        note("reverse")
        # (mu W_tt + rho) s = W_tn, |s| = 1.
        def direction(rho):
            det = (mu * a + rho) * (mu * d + rho) - mu * mu * b * b
            return ((mu * d + rho) * n1 - mu * b * n2) / det, ((mu * a + rho) * n2 - mu * b * n1) / det
        excess = lambda rho: sum(z * z for z in direction(rho)) - 1
        low, high = mpf(0), mp.sqrt(n1 * n1 + n2 * n2) * 2
        for _ in range(16):
            middle = (low + high) / 2
            low, high = (middle, high) if excess(middle) > 0 else (low, middle)
        rho = mp.findroot(excess, (low, high), solver="secant", tol=mpf(10) ** -66, maxsteps=60)
        s1, s2 = direction(rho)
        r1, r2 = -mu * s1, -mu * s2
    rate = nn + n1 * r1 + n2 * r2

    def go(dp):
        nonlocal p, q1, q2, y, work
        work += dp * (y + rate * dp / 2)
        p, q1, q2, y = p + dp, q1 + r1 * dp, q2 + r2 * dp, y + rate * dp

    if state["compression"] is None:
        go(-y / rate)
        mark(p, work)
        work, y = mpf(0), mpf(0)
    if termination == "newton":
        go((-e * yn - y) / rate)
    elif termination == "poisson":
        go((1 + e) * state["impulse"] - p)
    else:
        left = -e * e * state["compression"] - work
        go(2 * left / (y + mp.sqrt(y * y + 2 * rate * left)))
    return [p, q1, q2], modes


# W by its six entries, y, e, mu.
CASES = [
    ("slip throughout", [2.0, 0.3, -0.2, 3.0, 0.4, 2.5, -1.0, 4.0, 1.0, 0.6, 0.15]),
    ("slip that turns and goes on", [2.0, 0.5, -0.4, 4.0, 0.8, 1.5, -1.0, 1.5, -2.5, 0.8, 0.3]),
    ("slip that turns into the drive and does not stop", [2.0, 1.2, 0.5, 3.0, 0.4, 2.5, -1.0, 0.1, 0.3, 0.5, 0.2]),
    ("jam, then stick", [1.0, 1.3, 0.2, 2.5, 0.2, 2.2, -0.5, 1.0, 0.3, 0.5, 1.2]),
    ("stick from the start", [2.0, 0.3, 0.2, 3.0, 0.3, 2.5, -1.0, 0.0, 0.0, 0.6, 0.5]),
    ("slip that stops in compression, then stick", [2.0, 0.2, 0.1, 3.0, 0.3, 2.5, -1.0, 0.3, 0.2, 0.7, 0.6]),
    ("slip in a principal direction that stops: its neighbours turn", [2.0, 0.4, 0.0, 3.0, 0.0, 2.0, -1.0, 0.3, 0.0, 0.7, 0.6]),
    ("slip that stops in restitution, then stick", [2.0, 0.1, 0.15, 3.0, 0.3, 2.5, -1.0, 0.75, 0.4, 0.9, 0.55]),
]


def main():
    found = []
    for name, inputs in CASES:
        for termination in ("stronge", "poisson", "newton"):
            # The slide up to a stop in compression is shared; where it is not, one is enough.
            if "restitution" in name and termination != "stronge":
                continue
            x = [mpf(v) for v in inputs]
            value, modes = passage(x, termination)
            columns = []
            for k in range(11):
                ends = []
                for sign in (1, -1):
                    other = list(x)
                    other[k] += sign * STEP
                    ends.append(passage(other, termination)[0])
                columns.append([mp.nstr((p - m) / (2 * STEP), 20) for p, m in zip(*ends)])
            found.append({"name": name, "inputs": inputs, "termination": termination, "modes": modes,
                          "impulse": [mp.nstr(v, 20) for v in value], "derivatives": columns})
            print(name, termination, modes, file=sys.stderr, flush=True)
    print(json.dumps({"made": "friction.py: mpmath, 36 digits, central differences with a step of 1e-11", "cases": found}, indent=0))


if __name__ == "__main__":
    main()
