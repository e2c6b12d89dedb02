// Arrows and dots that are drawn over everything: contact points, normals, impulses, forces, angular momenta.

import {
  Color,
  ConeGeometry,
  CylinderGeometry,
  InstancedMesh,
  Matrix4,
  MeshBasicMaterial,
  Object3D,
  Quaternion,
  SphereGeometry,
  Vector3,
} from 'three';

const CAPACITY = 512;
const UP = new Vector3(0, 1, 0);

function layer(geometry: CylinderGeometry | ConeGeometry | SphereGeometry): InstancedMesh {
  const material = new MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.95 });
  const mesh = new InstancedMesh(geometry, material, CAPACITY);
  mesh.frustumCulled = false;
  mesh.renderOrder = 10;
  mesh.count = 0;
  mesh.setColorAt(0, new Color(0xffffff));
  return mesh;
}

export class Arrows {
  readonly root = new Object3D();
  private shafts = layer(new CylinderGeometry(1, 1, 1, 10).translate(0, 0.5, 0));
  private heads = layer(new ConeGeometry(1, 1, 14).translate(0, -0.5, 0));
  private dots = layer(new SphereGeometry(1, 16, 12));
  private matrix = new Matrix4();
  private turn = new Quaternion();
  private place = new Vector3();
  private scale = new Vector3();
  private direction = new Vector3();

  constructor() {
    this.root.add(this.shafts, this.heads, this.dots);
  }

  clear(): void {
    this.shafts.count = 0;
    this.heads.count = 0;
    this.dots.count = 0;
  }

  private put(mesh: InstancedMesh, colour: Color): void {
    if (mesh.count >= CAPACITY) return;
    mesh.setMatrixAt(mesh.count, this.matrix.compose(this.place, this.turn, this.scale));
    mesh.setColorAt(mesh.count, colour);
    mesh.count++;
  }

  dot(at: Vector3, radius: number, colour: Color): void {
    this.place.copy(at);
    this.turn.identity();
    this.scale.setScalar(radius);
    this.put(this.dots, colour);
  }

  /** An arrow from `at` along `vector`, as thick as `width`. */
  arrow(at: Vector3, vector: Vector3, width: number, colour: Color): void {
    const length = vector.length();
    if (!(length > 0)) return;
    const head = Math.min(0.5 * length, 4.5 * width);
    this.direction.copy(vector).divideScalar(length);
    this.turn.setFromUnitVectors(UP, this.direction);
    this.place.copy(at);
    this.scale.set(width * 0.5, length - head, width * 0.5);
    this.put(this.shafts, colour);
    this.place.copy(at).add(vector);
    this.scale.set(Math.min(1.5 * width, 0.4 * head), head, Math.min(1.5 * width, 0.4 * head));
    this.put(this.heads, colour);
  }

  finish(): void {
    for (const mesh of [this.shafts, this.heads, this.dots]) {
      mesh.visible = mesh.count > 0;
      mesh.instanceMatrix.needsUpdate = true;
      if (mesh.instanceColor !== null) mesh.instanceColor.needsUpdate = true;
    }
  }

  dispose(): void {
    for (const mesh of [this.shafts, this.heads, this.dots]) {
      mesh.geometry.dispose();
      (mesh.material as MeshBasicMaterial).dispose();
      mesh.dispose();
    }
  }
}
