// The camera: it orbits, sees the whole, or goes along with what it follows.

import { PerspectiveCamera, Vector3 } from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import type { Extent } from './extent';

/** Whom the camera goes with: nobody, the middle of all bodies, or one of them. */
export type Follow = 'none' | 'all' | number;

export class Eye {
  readonly camera = new PerspectiveCamera(38, 1, 0.01, 1000);
  follow: Follow = 'none';
  /** Whether someone has moved the camera since the run was loaded. */
  moved = false;
  onMove: () => void = () => undefined;

  private controls: OrbitControls;
  // What is followed, where it was last.
  private middle = new Vector3();

  constructor(canvas: HTMLCanvasElement) {
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.addEventListener('change', () => this.onMove());
    this.controls.addEventListener('start', () => {
      this.moved = true;
    });
  }

  get target(): Vector3 {
    return this.controls.target;
  }

  setAspect(aspect: number): void {
    this.camera.aspect = aspect;
    this.camera.updateProjectionMatrix();
  }

  /** Stands where it sees the whole, a little from above. */
  fit({ up, centre, half }: Extent): void {
    const across = new Vector3(1, 0, 0);
    if (Math.abs(across.dot(up)) > 0.9) across.set(0, 1, 0);
    across.addScaledVector(up, -across.dot(up)).normalize();
    const away = new Vector3().crossVectors(up, across);
    const direction = new Vector3()
      .addScaledVector(away, -0.86)
      .addScaledVector(across, 0.42)
      .addScaledVector(up, 0.46)
      .normalize();
    this.camera.up.copy(up);
    this.controls.target.copy(centre);
    this.camera.position.copy(centre).addScaledVector(direction, 1.08 * this.distanceFor(direction, half));
    this.middle.copy(centre);
    this.controls.update();
    this.onMove();
  }

  // How far back it stands to have every corner of a box in view, given half of its sides.
  private distanceFor(direction: Vector3, half: Vector3): number {
    const right = new Vector3().crossVectors(this.camera.up, direction).normalize();
    const top = new Vector3().crossVectors(direction, right);
    const tangent = Math.tan((this.camera.fov * Math.PI) / 360);
    const corner = new Vector3();
    let distance = 0;
    for (let k = 0; k < 8; k++) {
      corner.set(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1).multiply(half);
      const across = Math.abs(corner.dot(right)) / (tangent * this.camera.aspect);
      const above = Math.abs(corner.dot(top)) / tangent;
      distance = Math.max(distance, corner.dot(direction) + Math.max(across, above));
    }
    return distance;
  }

  /** Looks from where another looks. */
  lookLike(other: Eye): void {
    this.camera.position.copy(other.camera.position);
    this.camera.up.copy(other.camera.up);
    this.controls.target.copy(other.controls.target);
    this.middle.copy(other.middle);
    this.controls.update();
  }

  /** Follows from now on: what is followed comes to the middle of the picture. */
  setFollow(follow: Follow, poses: Float64Array): void {
    this.follow = follow;
    if (typeof follow === 'number') {
      const at = new Vector3().fromArray(poses, 7 * follow);
      this.camera.position.add(at.clone().sub(this.controls.target));
      this.controls.target.copy(at);
      this.middle.copy(at);
    } else if (follow === 'all') {
      this.middle.copy(this.controls.target);
    }
    this.onMove();
  }

  /** Goes along with what it follows; with all bodies it also stands back as they part. */
  track(poses: Float64Array, { reach, radius }: Extent): void {
    if (this.follow !== 'none') {
      const now =
        this.follow === 'all'
          ? this.standBack(poses, reach)
          : new Vector3().fromArray(poses, 7 * this.follow);
      const step = now.clone().sub(this.middle);
      this.middle.copy(now);
      this.controls.target.add(step);
      this.camera.position.add(step);
    }
    const distance = this.camera.position.distanceTo(this.controls.target);
    this.camera.near = Math.max(1e-3 * distance, distance - 40 * radius);
    this.camera.far = distance + 60 * radius;
    this.camera.updateProjectionMatrix();
    this.camera.lookAt(this.controls.target);
    this.camera.updateMatrixWorld();
  }

  // The middle of all bodies, from as far as it takes to see them.
  private standBack(poses: Float64Array, reach: Float64Array): Vector3 {
    const low = new Vector3(Infinity, Infinity, Infinity);
    const high = new Vector3(-Infinity, -Infinity, -Infinity);
    const at = new Vector3();
    for (let body = 0; body < reach.length; body++) {
      at.fromArray(poses, 7 * body);
      low.min(at.subScalar(reach[body]));
      high.max(at.addScalar(2 * reach[body]));
    }
    const sight = this.camera.position.clone().sub(this.controls.target);
    const half = high.clone().sub(low).multiplyScalar(0.5);
    const needed = 1.05 * this.distanceFor(sight.clone().normalize(), half);
    if (sight.length() < needed) this.camera.position.copy(this.controls.target).add(sight.setLength(needed));
    return low.add(high).multiplyScalar(0.5);
  }

  dispose(): void {
    this.controls.dispose();
  }
}
