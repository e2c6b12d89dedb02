// The bodies as instanced meshes: one draw call for each kind of surface, whatever the number of bodies.

import {
  BufferAttribute,
  BufferGeometry,
  Color,
  DynamicDrawUsage,
  InstancedMesh,
  MeshStandardMaterial,
  Object3D,
} from 'three';
import type { Header, Shape } from './protocol';
import { solid } from './solids';
import { cellsFor, superellipsoid, type Mesh } from './surface';
import type { Palette } from './theme';

const geometries = new Map<string, BufferGeometry>();

/** What tells surfaces apart: the exponent of those that are scaled to their semi-axes, all sizes of the others. */
function surfaceKey(shape: Shape): string {
  return isScaled(shape) ? `${exponentOf(shape)}` : JSON.stringify(shape);
}

/** Whether a body is drawn as a unit surface scaled by its semi-axes. */
export function isScaled(shape: Shape): boolean {
  return ['sphere', 'ellipsoid', 'superellipsoid', 'point'].includes(shape.kind);
}

/** A body's surface, of unit semi-axes where it is scaled by its own; made once for each kind and fineness. */
export function surfaceOf(shape: Shape, bodies: number): BufferGeometry {
  const cells = cellsFor(bodies, exponentOf(shape));
  const key = `${surfaceKey(shape)} ${cells}`;
  let geometry = geometries.get(key);
  if (geometry === undefined) {
    const mesh: Mesh = solid(shape, cells) ?? superellipsoid(exponentOf(shape), cells);
    geometry = new BufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(mesh.positions, 3));
    geometry.setAttribute('normal', new BufferAttribute(mesh.normals, 3));
    geometry.setIndex(new BufferAttribute(mesh.indices, 1));
    geometry.computeBoundingSphere();
    geometries.set(key, geometry);
  }
  return geometry;
}

// Seams along the body's planes of symmetry, and octants of two shades: a ball that turns is seen to turn.
function marked(): MeshStandardMaterial {
  const material = new MeshStandardMaterial({ roughness: 0.45, metalness: 0.02 });
  material.onBeforeCompile = (shader) => {
    shader.vertexShader = shader.vertexShader
      .replace('#include <common>', '#include <common>\nvarying vec3 vBody;')
      .replace('#include <begin_vertex>', '#include <begin_vertex>\nvBody = position;');
    shader.fragmentShader = shader.fragmentShader
      .replace('#include <common>', '#include <common>\nvarying vec3 vBody;')
      .replace(
        '#include <color_fragment>',
        `#include <color_fragment>
        vec3 pixel = max(fwidth(vBody), vec3(1e-6));
        vec3 seam = smoothstep(pixel * 0.7, pixel * 2.0, abs(vBody));
        vec3 half3 = clamp(vBody / pixel, -1.0, 1.0);
        float octant = half3.x * half3.y * half3.z;
        diffuseColor.rgb *= (1.0 + 0.13 * octant) * mix(0.62, 1.0, min(min(seam.x, seam.y), seam.z));`,
      );
  };
  return material;
}

/** The exponent that a shape is drawn with. */
export function exponentOf(shape: Shape): number {
  return shape.kind === 'superellipsoid' ? shape.exponent : 2;
}

interface Group {
  mesh: InstancedMesh;
  members: number[];
}

/** All bodies of a scene; points get a small ball so that they are seen. */
export class Bodies {
  readonly root = new Object3D();
  private groups: Group[] = [];
  private scales: Float64Array;

  constructor(
    private readonly header: Header,
    pointRadius: number,
  ) {
    const bySurface = new Map<string, number[]>();
    this.scales = new Float64Array(3 * header.bodies.length);
    header.bodies.forEach((body, index) => {
      const key = surfaceKey(body.shape);
      const scaled = isScaled(body.shape) ? body.shape.semi_axes : [1, 1, 1];
      const axes = body.shape.kind === 'point' ? [pointRadius, pointRadius, pointRadius] : scaled;
      this.scales.set(axes, 3 * index);
      const members = bySurface.get(key);
      if (members === undefined) bySurface.set(key, [index]);
      else members.push(index);
    });
    const shadows = header.bodies.length <= 300;
    const material = marked();
    for (const members of bySurface.values()) {
      const surface = surfaceOf(header.bodies[members[0]].shape, header.bodies.length);
      const mesh = new InstancedMesh(surface, material, members.length);
      mesh.instanceMatrix.setUsage(DynamicDrawUsage);
      mesh.frustumCulled = false;
      mesh.castShadow = shadows;
      mesh.receiveShadow = shadows;
      this.groups.push({ mesh, members });
      this.root.add(mesh);
    }
  }

  /** The colour of a body: its own while they are few, by the scene's fixed and free ones in all cases. */
  static colour(header: Header, index: number, palette: Palette): Color {
    if (header.bodies[index].fixed) return new Color(palette.fixed);
    const colour = new Color(palette.bodies[index % palette.bodies.length]);
    return colour;
  }

  paint(palette: Palette): void {
    for (const { mesh, members } of this.groups) {
      members.forEach((body, i) => mesh.setColorAt(i, Bodies.colour(this.header, body, palette)));
      if (mesh.instanceColor !== null) mesh.instanceColor.needsUpdate = true;
    }
  }

  /** Moves every body to its pose, seven numbers each (position, quaternion wxyz), scaled by its semi-axes. */
  place(poses: Float64Array): void {
    for (const { mesh, members } of this.groups) {
      const m = mesh.instanceMatrix.array;
      for (let i = 0; i < members.length; i++) {
        const body = members[i];
        const at = 7 * body;
        const w = poses[at + 3],
          x = poses[at + 4],
          y = poses[at + 5],
          z = poses[at + 6];
        const sx = this.scales[3 * body],
          sy = this.scales[3 * body + 1],
          sz = this.scales[3 * body + 2];
        const o = 16 * i;
        m[o] = sx * (1 - 2 * (y * y + z * z));
        m[o + 1] = sx * 2 * (x * y + w * z);
        m[o + 2] = sx * 2 * (x * z - w * y);
        m[o + 4] = sy * 2 * (x * y - w * z);
        m[o + 5] = sy * (1 - 2 * (x * x + z * z));
        m[o + 6] = sy * 2 * (y * z + w * x);
        m[o + 8] = sz * 2 * (x * z + w * y);
        m[o + 9] = sz * 2 * (y * z - w * x);
        m[o + 10] = sz * (1 - 2 * (x * x + y * y));
        m[o + 12] = poses[at];
        m[o + 13] = poses[at + 1];
        m[o + 14] = poses[at + 2];
        m[o + 15] = 1;
      }
      mesh.instanceMatrix.needsUpdate = true;
    }
  }

  /** Which body an instance of a mesh is; −1 for any other mesh. */
  bodyOf(mesh: Object3D, instance: number): number {
    return this.groups.find((group) => group.mesh === mesh)?.members[instance] ?? -1;
  }

  /** Spheres around the instances are out of date after they moved; a search by ray needs them. */
  refreshBounds(): void {
    for (const { mesh } of this.groups) mesh.computeBoundingSphere();
  }

  dispose(): void {
    for (const { mesh } of this.groups) {
      mesh.dispose();
      (mesh.material as MeshStandardMaterial).dispose();
    }
  }
}
