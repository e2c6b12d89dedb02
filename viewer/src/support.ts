// Small geometry of poses: seven numbers a body, position and quaternion wxyz.

import { Quaternion, Vector3 } from 'three';
import { exponentOf } from './bodies';
import type { Shape, Vector } from './protocol';
import { farthest } from './solids';

/** Puts all bodies back into the periodic box; a length of zero is an open direction. */
export function fold(poses: Float64Array, box: Vector | null): void {
  if (box === null) return;
  for (let at = 0; at < poses.length; at += 7) {
    for (let k = 0; k < 3; k++) if (box[k] > 0) poses[at + k] -= box[k] * Math.floor(poses[at + k] / box[k]);
  }
}

/** The same for one point. */
export function foldPoint(point: Vector, box: Vector | null): Vector {
  if (box === null) return point;
  return point.map((x, i) => (box[i] > 0 ? x - box[i] * Math.floor(x / box[i]) : x)) as Vector;
}

export function turnOf(poses: Float64Array, body: number): Quaternion {
  const at = 7 * body;
  return new Quaternion(poses[at + 4], poses[at + 5], poses[at + 6], poses[at + 3]);
}

/**
 * The point of a body furthest along a direction: the support point of its shape, x_i = a_i sign(m_i) (|m_i| / ‖m‖_q)^{q/p}
 * with m = a n, 1/p + 1/q = 1, and n the direction in the body's axes.
 */
export function extreme(
  shape: Shape,
  poses: Float64Array,
  body: number,
  direction: Vector3,
  out: Vector3,
): Vector3 {
  const turn = turnOf(poses, body);
  out.copy(direction).applyQuaternion(turn.clone().conjugate());
  const corner = farthest(shape, [out.x, out.y, out.z]);
  if (corner !== null) {
    return out
      .set(...corner)
      .applyQuaternion(turn)
      .add(new Vector3().fromArray(poses, 7 * body));
  }
  const p = exponentOf(shape);
  const q = p / (p - 1);
  const m = shape.semi_axes.map((a, i) => a * out.getComponent(i));
  const norm = m.reduce((sum, v) => sum + Math.abs(v) ** q, 0) ** (1 / q) || 1;
  shape.semi_axes.forEach((a, i) =>
    out.setComponent(i, a * Math.sign(m[i]) * (Math.abs(m[i]) / norm) ** (q / p)),
  );
  return out.applyQuaternion(turn).add(new Vector3().fromArray(poses, 7 * body));
}
