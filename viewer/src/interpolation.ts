// Motion between two states of a body.
//
// Position: the cubic that has the position and velocity of both ends (Hermite). Orientation: the curve
//   q(s) = q₀ · E(b₁(s) φ₁) · E(b₂(s) φ₂) · E(b₃(s) φ₃),  b₁ = 1−(1−s)³, b₂ = 3s²−2s³, b₃ = s³,
// with E(φ) the turn by the vector φ, φ₁ = ω₀h/3 and φ₃ = ω₁h/3 in the body's axes, and φ₂ what is left of the way
// (Kim, Kim, Shin, A general construction scheme for unit quaternion curves with simple high order derivatives, 1995,
// section 5). It has the orientation and the angular velocity of both ends, and an error of fourth order in the interval
// h. It fails where a body turns by more than 3π in one interval: φ₂ is then taken the short way round.
//
// Without velocities: a straight line, and a turn about one axis (slerp).

/** Numbers of a prepared segment: start, duration, positions and velocities, q₀, φ₁, φ₂, φ₃. */
export const SEGMENT = 27;
/** Numbers of a state: position, quaternion wxyz, velocity, angular velocity. */
export const STATE = 13;

const P0 = 2;
const V0 = 5;
const P1 = 8;
const V1 = 11;
const Q0 = 14;
const F1 = 18;
const F2 = 21;
const F3 = 24;

type Numbers = Float64Array | Float32Array;

/** c ← a b, for quaternions wxyz. */
function multiply(c: Numbers, ci: number, a: Numbers, ai: number, b: Numbers, bi: number): void {
  const aw = a[ai], ax = a[ai + 1], ay = a[ai + 2], az = a[ai + 3];
  const bw = b[bi], bx = b[bi + 1], by = b[bi + 2], bz = b[bi + 3];
  c[ci] = aw * bw - ax * bx - ay * by - az * bz;
  c[ci + 1] = aw * bx + ax * bw + ay * bz - az * by;
  c[ci + 2] = aw * by - ax * bz + ay * bw + az * bx;
  c[ci + 3] = aw * bz + ax * by - ay * bx + az * bw;
}

/** q ← E(scale φ). */
function turn(q: Numbers, qi: number, f: Numbers, fi: number, scale: number): void {
  const x = scale * f[fi], y = scale * f[fi + 1], z = scale * f[fi + 2];
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

const scratch = new Float64Array(24);

// φ ← scale ω in the axes of q, which is of unit length.
function inBody(f: Numbers, fi: number, w: Numbers, wi: number, q: Numbers, qi: number, scale: number): void {
  scratch[0] = q[qi];
  for (let i = 1; i < 4; i++) scratch[i] = -q[qi + i];
  scratch[4] = 0;
  for (let i = 0; i < 3; i++) scratch[5 + i] = w[wi + i];
  multiply(scratch, 8, scratch, 0, scratch, 4);
  multiply(scratch, 12, scratch, 8, q, qi);
  for (let i = 0; i < 3; i++) f[fi + i] = scale * scratch[13 + i];
}

/** Prepares the motion from state `a` at t0 to state `b` at t1; `floats` is 13 with velocities, 7 without. */
export function prepare(
  out: Float64Array, at: number, floats: number,
  t0: number, a: Numbers, ai: number,
  t1: number, b: Numbers, bi: number,
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
  const length = Math.hypot(a[ai + 3], a[ai + 4], a[ai + 5], a[ai + 6]) || 1;
  for (let i = 0; i < 4; i++) out[at + Q0 + i] = a[ai + 3 + i] / length;
  // The turn from a to b, as it is or less what φ₁ and φ₃ do of it.
  const end = Math.hypot(b[bi + 3], b[bi + 4], b[bi + 5], b[bi + 6]) || 1;
  const q1 = work;
  for (let i = 0; i < 4; i++) q1[i] = b[bi + 3 + i] / end;
  q1[4] = out[at + Q0];
  for (let i = 1; i < 4; i++) q1[4 + i] = -out[at + Q0 + i];
  multiply(q1, 8, q1, 4, q1, 0);
  if (moving) {
    inBody(out, at + F1, a, ai + 10, out, at + Q0, h / 3);
    inBody(out, at + F3, b, bi + 10, q1, 0, h / 3);
    turn(q1, 12, out, at + F1, -1);
    multiply(q1, 16, q1, 12, q1, 8);
    turn(q1, 12, out, at + F3, -1);
    multiply(q1, 8, q1, 16, q1, 12);
    vectorOf(out, at + F2, q1, 8);
  } else {
    // Thirds of one turn about one axis; b₁ + b₂ + b₃ is not linear in s, so `pose` takes this case apart.
    vectorOf(out, at + F2, q1, 8);
    out.fill(0, at + F1, at + F1 + 3);
    out.fill(0, at + F3, at + F3 + 3);
  }
}

const work = new Float64Array(24);

/** The pose of a prepared segment at time t: position, then quaternion wxyz. */
export function pose(out: Numbers, oi: number, segment: Float64Array, at: number, floats: number, t: number): void {
  const h = segment[at + 1];
  const s = h > 0 ? Math.min(1, Math.max(0, (t - segment[at]) / h)) : 0;
  const r = 1 - s;
  if (floats !== STATE) {
    for (let i = 0; i < 3; i++) out[oi + i] = r * segment[at + P0 + i] + s * segment[at + P1 + i];
    turn(work, 0, segment, at + F2, s);
    multiply(out, oi + 3, segment, at + Q0, work, 0);
    return;
  }
  const s2 = s * s;
  const b3 = s2 * s, b2 = 3 * s2 - 2 * b3, b1 = 1 - r * r * r;
  const k0 = h * s * r * r, k1 = -h * s2 * r;
  for (let i = 0; i < 3; i++) {
    out[oi + i] =
      segment[at + P0 + i] + b2 * (segment[at + P1 + i] - segment[at + P0 + i]) +
      k0 * segment[at + V0 + i] + k1 * segment[at + V1 + i];
  }
  turn(work, 0, segment, at + F1, b1);
  multiply(work, 4, segment, at + Q0, work, 0);
  turn(work, 0, segment, at + F2, b2);
  multiply(work, 8, work, 4, work, 0);
  turn(work, 0, segment, at + F3, b3);
  multiply(out, oi + 3, work, 8, work, 0);
}

/** The velocity of a prepared segment at time t. */
export function velocity(out: Numbers, oi: number, segment: Float64Array, at: number, t: number): void {
  const h = segment[at + 1];
  const s = h > 0 ? Math.min(1, Math.max(0, (t - segment[at]) / h)) : 0;
  const d = h > 0 ? (6 * s - 6 * s * s) / h : 0;
  const k0 = 1 - 4 * s + 3 * s * s, k1 = 3 * s * s - 2 * s;
  for (let i = 0; i < 3; i++) {
    out[oi + i] =
      d * (segment[at + P1 + i] - segment[at + P0 + i]) + k0 * segment[at + V0 + i] + k1 * segment[at + V1 + i];
  }
}
