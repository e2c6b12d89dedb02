"""Reference values for free rotation and Jacobi's functions, to 17 digits from 60.

    python3 generate.py > motion.json        (needs mpmath; checked with 1.3.0)

The rotation is by another road than the library's: incomplete integrals of the third kind by mpmath's ellippi, unwound by whole periods; each top is checked here against a Taylor integration of Euler's equations.
"""
import json
import random
from mpmath import (mp, mpf, sqrt, ellipfun, ellipk, ellipf, ellippi, atan2, asin, sin, cos, nint, matrix, acos,
                    odefun)

mp.dps = 60
random.seed(4)


def digits(x):
    return float(mp.nstr(x, 17))


def turn(q):
    w, x, y, z = q
    s = w * w + x * x + y * y + z * z
    return matrix([[w*w + x*x - y*y - z*z, 2 * (x*y - w*z), 2 * (x*z + w*y)],
                   [2 * (x*y + w*z), w*w - x*x + y*y - z*z, 2 * (y*z - w*x)],
                   [2 * (x*z - w*y), 2 * (y*z + w*x), w*w - x*x - y*y + z*z]]) / s


class Top:
    def __init__(self, moments, quaternion, spin):
        self.R0 = turn([mpf(c) for c in quaternion])
        w = self.R0.T * matrix([mpf(c) for c in spin])
        I = [mpf(c) for c in moments]
        M = [I[i] * w[i] for i in range(3)]
        low, mid, high = sorted(range(3), key=lambda i: I[i])
        square = sum(c * c for c in M)
        energy = sum(M[i] ** 2 / I[i] for i in range(3))
        order = [low, mid, high] if square > energy * I[mid] else [high, mid, low]
        third = -1 if M[order[2]] < 0 else 1
        even = (order[0] + 1) % 3 == order[1]
        signs = [third if even else -third, 1, third]
        self.P = matrix(3, 3)
        for k in range(3):
            self.P[k, order[k]] = signs[k]
        self.I = [I[o] for o in order]
        M1, M2, M3 = (M[order[k]] * signs[k] for k in range(3))
        I1, I2, I3 = self.I
        T2, self.L = energy, sqrt(square)
        # The textbook's amplitudes (Landau and Lifshitz, §37), not the library's.
        self.A1 = sqrt((T2 * I3 - square) * I1 / (I3 - I1))
        self.A2 = sqrt((T2 * I3 - square) * I2 / (I3 - I2))
        self.A3 = sqrt((square - T2 * I1) * I3 / (I3 - I1))
        self.m = (I2 - I1) * (T2 * I3 - square) / ((I3 - I2) * (square - T2 * I1))
        self.p = sqrt((I3 - I2) * (square - T2 * I1) / (I1 * I2 * I3)) * (1 if I3 > I2 else -1)
        self.n = I3 * (I2 - I1) / (I1 * (I3 - I2))
        self.K = ellipk(self.m)
        self.u0 = ellipf(atan2(M2 / self.A2, M1 / self.A1), self.m)
        self.phase0 = self.third(self.u0)
        Q0 = self.to_frame(0, self.u0)
        self.A = self.R0 * self.P.T * Q0.T

    def functions(self, u):
        cells = nint(u / (2 * self.K))
        r = u - 2 * self.K * cells
        sign = -1 if int(cells) % 2 else 1
        return (cells, sign * ellipfun('sn', r, m=self.m), sign * ellipfun('cn', r, m=self.m),
                ellipfun('dn', r, m=self.m))

    def third(self, u):
        cells, sn, cn, dn = self.functions(u)
        sn = sn if int(cells) % 2 == 0 else -sn
        part = ellippi(-self.n, asin(sn), self.m)
        return 2 * cells * ellippi(-self.n, self.m) + part

    def momentum(self, u):
        _, sn, cn, dn = self.functions(u)
        return self.A1 * cn, self.A2 * sn, self.A3 * dn

    def to_frame(self, phi, u):
        M1, M2, M3 = self.momentum(u)
        psi, theta = atan2(M1, M2), acos(M3 / self.L)
        rz = lambda a: matrix([[cos(a), -sin(a), 0], [sin(a), cos(a), 0], [0, 0, 1]])
        rx = lambda a: matrix([[1, 0, 0], [0, cos(a), -sin(a)], [0, sin(a), cos(a)]])
        return rz(phi) * rx(theta) * rz(psi)

    def at(self, t):
        t = mpf(t)
        u = self.u0 + self.p * t
        I1, I2, I3 = self.I
        phi = self.L * t / I3 + self.L / self.p * (1 / I1 - 1 / I3) * (self.third(u) - self.phase0)
        R = self.A * self.to_frame(phi, u) * self.P
        M = self.momentum(u)
        w = R * self.P.T * matrix([M[k] / self.I[k] for k in range(3)])
        return R, w


def checked(moments, quaternion, spin, top):
    """Against a Taylor integration, to 25 digits."""
    old = mp.dps
    mp.dps = 25
    I = [mpf(c) for c in moments]
    R0 = turn([mpf(c) for c in quaternion])
    w = R0.T * matrix([mpf(c) for c in spin])

    def slope(t, y):
        a, b, c = y[:3]
        out = [(I[1] - I[2]) / I[0] * b * c, (I[2] - I[0]) / I[1] * c * a, (I[0] - I[1]) / I[2] * a * b]
        for r in range(3):  # rows of R: R' = R [w]
            x, y_, z = y[3 + 3 * r:6 + 3 * r]
            out += [y_ * c - z * b, z * a - x * c, x * b - y_ * a]
        return out
    y = odefun(slope, 0, [w[0], w[1], w[2]] + [R0[i, j] for i in range(3) for j in range(3)])(mpf(1.25))
    mp.dps = old
    R, _ = top.at(1.25)
    error = max(abs(R[i, j] - y[3 + 3 * i + j]) for i in range(3) for j in range(3))
    assert error < mpf(10) ** -18, error


tops = [([1, 2, 3], [1, 0, 0, 0], [0.01, 2, 0.01])]
for perm in ([1, 2, 3], [3, 1, 2], [2, 1, 3], [1, 3, 2], [2, 3, 1], [3, 2, 1]):
    tops.append(([p * 0.7 for p in perm], [random.uniform(-1, 1) for _ in range(4)],
                 [random.uniform(-2, 2) for _ in range(3)]))
tops.append(([1, 1 + 1e-6, 1.7], [1, 0, 0, 0], [0.3, -1.2, 0.8]))
tops.append(([1, 1.7, 1.7 + 1e-9], [1, 0, 0, 0], [-0.3, -1.2, 0.8]))
tops.append(([1, 2, 3], [1, 0, 0, 0], [1e-6, -2, 1.5e-6]))
tops.append(([1, 2, 3], [1, 0, 0, 0], [1e-9, 0.5, -1e-9]))
tops.append(([0.2, 5, 5.1], [1, 0, 0, 0], [3, -1, 2]))
tops.append(([5, 0.2, 5.1], [1, 0, 0, 0], [1e-5, 3, -1e-6]))
# Circling about one of two nearly equal axes; flat and long bodies; wobbles of every size; m about one half.
tops.append(([1, 1.7, 1.7 * (1 + 1e-7)], [1, 0, 0, 0], [1e-5, 0.3, 1.1]))
tops.append(([1.7 * (1 + 1e-11), 1, 1.7], [1, 0, 0, 0], [1.1, 1e-7, 0.4]))
tops.append(([0.9, 0.9 * (1 - 1e-8), 2], [1, 0, 0, 0], [-0.8, 0.5, 1e-5]))
tops.append(([0.01, 1, 1.005], [1, 0, 0, 0], [2, -3, 1]))
tops.append(([1, 2, 3], [1, 0, 0, 0], [1e-8, 1e-9, -2]))
tops.append(([1, 2, 3], [1, 0, 0, 0], [-2, 1e-13, 1e-12]))
for wobble in (0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
    tops.append(([1, 2, 3], [1, 0, 0, 0], [wobble, 0.6, 0.9]))
# Symmetric about each axis, flat and long.
tops.append(([1.7, 1.7, 0.4], [0.3, -0.5, 0.2, 0.7], [0.3, -1.2, 0.8]))
tops.append(([0.02, 1, 1], [0.9, 0.5, -0.2, 0.1], [2, -0.3, 1]))
tops.append(([1, 1.99, 1], [0.2, 0.5, 0.6, -0.1], [-0.4, 1.1, 1e-3]))
tops.append(([5, 5, 0.05], [1, 0, 0, 0], [1e-7, 0, -3]))

rotation = []
for moments, quaternion, spin in tops:
    # Unit to rounding, as a state's is.
    norm = sum(c * c for c in quaternion) ** 0.5
    quaternion = [c / norm for c in quaternion]
    top = Top(moments, quaternion, spin)
    checked(moments, quaternion, spin, top)
    states = []
    for t in (0.0, 0.37, 7.3, -33.3, 100.0, 1e6):
        R, w = top.at(t)
        states.append({"t": t, "turn": [digits(R[i, j]) for i in range(3) for j in range(3)],
                       "spin": [digits(c) for c in w]})
    rotation.append({"inertia": moments, "quaternion_wxyz": quaternion, "spin": spin,
                     "complement": digits(1 - top.m), "states": states})

functions = []
for complement in (1.0, 1 - 1e-9, 0.999, 0.9, 0.5 + 1e-9, 0.5, 0.5 - 1e-9, 0.3, 0.1, 1e-2, 1e-4, 1e-7, 1e-10, 1e-13,
                   1e-30, 1e-100):
    # 1 - m must survive the working digits.
    with mp.workdps(60 if complement > 1e-20 else 260):
        m = 1 - mpf(complement)
        K = ellipk(m)
        for share in (0.0, 1e-9, 0.1, 0.35, 0.5, 0.77, 0.999, 1.0, 1.3, 1.9, 2.4, 3.99, -0.6, 17.3, 1001.25):
            u = float(share * K)
            functions.append({"complement": complement, "u": u, "K": digits(K),
                              "sn_cn_dn": [digits(ellipfun(f, mpf(u), m=m)) for f in ("sn", "cn", "dn")]})
print(json.dumps({"about": "generate.py, mpmath, 60 digits", "rotation": rotation, "functions": functions},
                 separators=(",", ":")))
