// Joints as rods: from a body's centre to the point of its hinge or ball joint, or to the body that it is welded to.
//
// Where a joint sits is read from the scene's text, at the start; from then on its point moves with the body.

import {
  Color,
  CylinderGeometry,
  InstancedMesh,
  Matrix4,
  MeshStandardMaterial,
  Quaternion,
  Vector3,
} from 'three';
import { parseScene } from './sketch';
import type { Timeline } from './timeline';

/** A rod from a body's centre to a point fixed in the body. */
export interface Rod {
  body: number;
  local: Vector3;
}

const UP = new Vector3(0, 1, 0);

function poseOf(poses: ArrayLike<number>, body: number): { at: Vector3; turn: Quaternion } {
  const i = 7 * body;
  return {
    at: new Vector3(poses[i], poses[i + 1], poses[i + 2]),
    turn: new Quaternion(poses[i + 4], poses[i + 5], poses[i + 6], poses[i + 3]),
  };
}

/** The rods of a scene. */
export function rodsOf(timeline: Timeline): Rod[] {
  const { header } = timeline;
  if (header.joints.length === 0) return [];
  const poses = new Float64Array(7 * timeline.bodies);
  timeline.poses(timeline.start, poses);
  const numbers = new Map(header.bodies.map((body, i) => [body.name, i]));
  const rods: Rod[] = [];
  const add = (body: number | undefined, point: Vector3): void => {
    if (body === undefined || header.bodies[body].fixed) return;
    const { at, turn } = poseOf(poses, body);
    rods.push({ body, local: point.clone().sub(at).applyQuaternion(turn.conjugate()) });
  };
  for (const { bodies, kind } of parseScene(header.text)?.joints ?? []) {
    const members = bodies.map((name) => numbers.get(name));
    if ('point' in kind) for (const body of members) add(body, new Vector3(...kind.point));
    else if (members[1] !== undefined) add(members[0], poseOf(poses, members[1]).at);
  }
  return rods;
}

/** The far end of a rod. */
export function endOf(rod: Rod, poses: Float64Array): Vector3 {
  const { at, turn } = poseOf(poses, rod.body);
  return rod.local.clone().applyQuaternion(turn).add(at);
}

export class Links {
  readonly root: InstancedMesh<CylinderGeometry, MeshStandardMaterial>;
  private matrix = new Matrix4();
  private scale = new Vector3();

  constructor(
    private readonly rods: Rod[],
    private readonly thickness: number,
  ) {
    const material = new MeshStandardMaterial({ roughness: 0.6 });
    this.root = new InstancedMesh(
      new CylinderGeometry(1, 1, 1, 10).translate(0, 0.5, 0),
      material,
      Math.max(1, rods.length),
    );
    this.root.count = rods.length;
    this.root.visible = rods.length > 0;
    this.root.frustumCulled = false;
    this.root.castShadow = true;
  }

  paint(colour: string): void {
    this.root.material.color = new Color(colour);
  }

  place(poses: Float64Array): void {
    if (this.rods.length === 0) return;
    this.rods.forEach((rod, i) => {
      const { at } = poseOf(poses, rod.body);
      const along = endOf(rod, poses).sub(at);
      const length = along.length();
      const turn = new Quaternion().setFromUnitVectors(UP, length > 0 ? along.divideScalar(length) : UP);
      this.root.setMatrixAt(
        i,
        this.matrix.compose(at, turn, this.scale.set(this.thickness, length, this.thickness)),
      );
    });
    this.root.instanceMatrix.needsUpdate = true;
  }

  dispose(): void {
    this.root.geometry.dispose();
    this.root.material.dispose();
    this.root.dispose();
  }
}
