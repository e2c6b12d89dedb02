// Motion between two states of a body.
//
// Position: the cubic that has the position and velocity of both ends (Hermite). Orientation: q(t) = q₀ E(φ(t)), E(φ) being
// the turn by the vector φ in the body's axes and φ again a Hermite cubic, from φ = 0 to the turn between both ends.
// Its rates there follow from the angular velocities in the body's axes by the inverse of the exponential's derivative,
//   φ̇ = ω + ½ φ×ω + (1 − (θ/2) cot(θ/2)) / θ² φ×(φ×ω),  θ = |φ|
// (Bortz, A new mathematical formulation for strapdown inertial navigation, 1971, eq. 13). Steady turning comes out
// exactly, any other motion with an error of fourth order in the interval. Of the turns φ + 2πk that lead to the second
// orientation, the one nearest to what the angular velocities say is taken. The formula fails at θ = 2π: beyond
// three quarters of that the turn is made at an even rate.
//
// Without velocities: a straight line, and a turn about one axis at an even rate (slerp), the short way round.

/** Numbers of a prepared segment: start, duration, positions and velocities, q₀, φ at the end, its rates at both ends. */
export const SEGMENT = 27;
/** Numbers of a state: position, quaternion wxyz, velocity, angular velocity. */
export const STATE = 13;

const P0 = 2;
const V0 = 5;
const P1 = 8;
const V1 = 11;
const Q0 = 14;
const F1 = 18;
const D0 = 21;
const D1 = 24;
// The largest turn in one interval that keeps the rates of its ends.
const LARGEST = 1.5 * Math.PI;

type Numbers = Float64Array | Float32Array;

/** c ← a b, for quaternions wxyz. */
function multiply(c: Numbers, ci: number, a: Numbers, ai: number, b: Numbers, bi: number): void {
  const aw = a[ai],
    ax = a[ai + 1],
    ay = a[ai + 2],
    az = a[ai + 3];
  const bw = b[bi],
    bx = b[bi + 1],
    by = b[bi + 2],
    bz = b[bi + 3];
  c[ci] = aw * bw - ax * bx - ay * by - az * bz;
  c[ci + 1] = aw * bx + ax * bw + ay * bz - az * by;
  c[ci + 2] = aw * by - ax * bz + ay * bw + az * bx;
  c[ci + 3] = aw * bz + ax * by - ay * bx + az * bw;
}

/** q ← E(scale φ). */
function turn(q: Numbers, qi: number, f: Numbers, fi: number, scale: number): void {
  const x = scale * f[fi],
    y = scale * f[fi + 1],
    z = scale * f[fi + 2];
  const angle = Math.sqrt(x * x + y * y + z * z);
  const half = 0.5 * angle;
  const k = angle < 1e-6 ? 0.5 - (angle * angle) / 48 : Math.sin(half) / angle;
  q[qi] = Math.cos(half);
  q[qi + 1] = k * x;
  q[qi + 2] = k * y;
  q[qi + 3] = k * z;
}

/** φ ← the vector of the turn q, the short way round. */
function vectorOf(f: Numbers, fi: number, q: Numbers, qi: number): void {
  const sign = q[qi] < 0 ? -1 : 1;
  const w = sign * q[qi];
  const length = Math.hypot(q[qi + 1], q[qi + 2], q[qi + 3]);
  const k = length < 1e-9 ? 2 : (2 * Math.atan2(length, w)) / length;
  for (let i = 0; i < 3; i++) f[fi + i] = sign * k * q[qi + 1 + i];
}

const work = new Float64Array(24);

// out ← scale ω in the axes of q, which is of unit length.
function inBody(
  out: Numbers,
  oi: number,
  w: Numbers,
  wi: number,
  q: Numbers,
  qi: number,
  scale: number,
): void {
  work[0] = q[qi];
  for (let i = 1; i < 4; i++) work[i] = -q[qi + i];
  work[4] = 0;
  for (let i = 0; i < 3; i++) work[5 + i] = w[wi + i];
  multiply(work, 8, work, 0, work, 4);
  multiply(work, 12, work, 8, q, qi);
  for (let i = 0; i < 3; i++) out[oi + i] = scale * work[13 + i];
}

// The rate of φ that turns with ω, both at `segment`; ω is replaced by it.
function rate(segment: Float64Array, fi: number, wi: number): void {
  const fx = segment[fi],
    fy = segment[fi + 1],
    fz = segment[fi + 2];
  const wx = segment[wi],
    wy = segment[wi + 1],
    wz = segment[wi + 2];
  const square = fx * fx + fy * fy + fz * fz;
  const angle = Math.sqrt(square);
  const k = angle < 1e-2 ? 1 / 12 + square / 720 : (1 - (0.5 * angle) / Math.tan(0.5 * angle)) / square;
  const cx = fy * wz - fz * wy,
    cy = fz * wx - fx * wz,
    cz = fx * wy - fy * wx;
  segment[wi] = wx + 0.5 * cx + k * (fy * cz - fz * cy);
  segment[wi + 1] = wy + 0.5 * cy + k * (fz * cx - fx * cz);
  segment[wi + 2] = wz + 0.5 * cz + k * (fx * cy - fy * cx);
}

/** Prepares the motion from state `a` at t0 to state `b` at t1; `floats` is 13 with velocities, 7 without. */
export function prepare(
  out: Float64Array,
  at: number,
  floats: number,
  t0: number,
  a: Numbers,
  ai: number,
  t1: number,
  b: Numbers,
  bi: number,
): void {
  const h = t1 - t0;
  const moving = floats === STATE;
  out[at] = t0;
  out[at + 1] = h;
  for (let i = 0; i < 3; i++) {
    const straight = h > 0 ? (b[bi + i] - a[ai + i]) / h : 0;
    out[at + P0 + i] = a[ai + i];
    out[at + P1 + i] = b[bi + i];
    out[at + V0 + i] = moving ? a[ai + 7 + i] : straight;
    out[at + V1 + i] = moving ? b[bi + 7 + i] : straight;
  }
  const first = Math.hypot(a[ai + 3], a[ai + 4], a[ai + 5], a[ai + 6]) || 1;
  const second = Math.hypot(b[bi + 3], b[bi + 4], b[bi + 5], b[bi + 6]) || 1;
  for (let i = 0; i < 4; i++) {
    out[at + Q0 + i] = a[ai + 3 + i] / first;
    ends[i] = ((i === 0 ? 1 : -1) * a[ai + 3 + i]) / first;
    ends[4 + i] = b[bi + 3 + i] / second;
  }
  multiply(ends, 8, ends, 0, ends, 4);
  vectorOf(out, at + F1, ends, 8);
  if (!moving) return;
  inBody(out, at + D0, a, ai + 10, out, at + Q0, 1);
  inBody(out, at + D1, b, bi + 10, ends, 4, 1);
  choose(out, at, h);
}

const ends = new Float64Array(12);

// Takes the turn that the angular velocities say, whole turns included, and their rates; or an even one.
function choose(out: Float64Array, at: number, h: number): void {
  const f = at + F1;
  let angle = Math.hypot(out[f], out[f + 1], out[f + 2]);
  if (angle > 1e-9) {
    let along = 0;
    for (let i = 0; i < 3; i++)
      along += (0.5 * h * (out[at + D0 + i] + out[at + D1 + i]) * out[f + i]) / angle;
    const turned = angle + 2 * Math.PI * Math.round((along - angle) / (2 * Math.PI));
    for (let i = 0; i < 3; i++) out[f + i] *= turned / angle;
    angle = Math.abs(turned);
  }
  if (angle < LARGEST) {
    // At the start φ = 0, and its rate is ω itself.
    rate(out, f, at + D1);
    return;
  }
  for (let i = 0; i < 3; i++) out[at + D0 + i] = out[at + D1 + i] = out[f + i] / h;
}

const turned = new Float64Array(7);

/** The pose of a prepared segment at time t: position, then quaternion wxyz. */
export function pose(
  out: Numbers,
  oi: number,
  segment: Float64Array,
  at: number,
  floats: number,
  t: number,
): void {
  const h = segment[at + 1];
  const s = h > 0 ? Math.min(1, Math.max(0, (t - segment[at]) / h)) : 0;
  const r = 1 - s;
  if (floats !== STATE) {
    for (let i = 0; i < 3; i++) out[oi + i] = r * segment[at + P0 + i] + s * segment[at + P1 + i];
    turn(turned, 0, segment, at + F1, s);
    multiply(out, oi + 3, segment, at + Q0, turned, 0);
    return;
  }
  const s2 = s * s;
  const b = 3 * s2 - 2 * s2 * s;
  const k0 = h * s * r * r,
    k1 = -h * s2 * r;
  for (let i = 0; i < 3; i++) {
    out[oi + i] =
      segment[at + P0 + i] +
      b * (segment[at + P1 + i] - segment[at + P0 + i]) +
      k0 * segment[at + V0 + i] +
      k1 * segment[at + V1 + i];
    turned[4 + i] = b * segment[at + F1 + i] + k0 * segment[at + D0 + i] + k1 * segment[at + D1 + i];
  }
  turn(turned, 0, turned, 4, 1);
  multiply(out, oi + 3, segment, at + Q0, turned, 0);
}

/** The velocity of a prepared segment at time t. */
export function velocity(out: Numbers, oi: number, segment: Float64Array, at: number, t: number): void {
  const h = segment[at + 1];
  const s = h > 0 ? Math.min(1, Math.max(0, (t - segment[at]) / h)) : 0;
  const d = h > 0 ? (6 * s - 6 * s * s) / h : 0;
  const k0 = 1 - 4 * s + 3 * s * s,
    k1 = 3 * s * s - 2 * s;
  for (let i = 0; i < 3; i++) {
    out[oi + i] =
      d * (segment[at + P1 + i] - segment[at + P0 + i]) +
      k0 * segment[at + V0 + i] +
      k1 * segment[at + V1 + i];
  }
}
