// The 3D picture of a run at one time: bodies, walls, trails, arrows, names; a camera that orbits or follows.

import {
  AmbientLight, Color, DirectionalLight, HemisphereLight, PCFShadowMap, PerspectiveCamera, Quaternion, Raycaster, Scene, Vector2, Vector3,
  WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { Arrows } from './arrows';
import { Backdrop } from './backdrop';
import { Bodies, exponentOf } from './bodies';
import { element } from './dom';
import { forceAt, type Hold, size } from './forces';
import { endOf, Links, type Rod, rodsOf } from './links';
import type { Header, RunEvent, Shape, Vector } from './protocol';
import { palette } from './theme';
import type { Timeline } from './timeline';
import { TRAILS, Trails } from './trails';

/** What is drawn beside the bodies. */
export interface Layers {
  trails: boolean;
  contacts: boolean;
  impulses: boolean;
  forces: boolean;
  spins: boolean;
  names: boolean;
  velocities: boolean;
}

/** Whom the camera goes with: nobody, the middle of all bodies, or one of them. */
export type Follow = 'none' | 'all' | number;

/** What the last drawn frame cost. */
export interface Cost {
  scriptMs: number;
  submitMs: number;
  drawCalls: number;
  triangles: number;
}

const NAMES = 12;
// So many events at most show at a time.
const RECENT = 24;

function renderer(canvas: HTMLCanvasElement): WebGLRenderer {
  try {
    return new WebGLRenderer({ canvas, antialias: true, powerPreference: 'high-performance' });
  } catch {
    throw new Error('This browser draws nothing in three dimensions here: WebGL is switched off, or missing.');
  }
}

export class Stage {
  readonly canvas: HTMLCanvasElement;
  readonly cost: Cost = { scriptMs: 0, submitMs: 0, drawCalls: 0, triangles: 0 };
  layers: Layers = { trails: true, contacts: true, impulses: true, forces: true, spins: false, names: true, velocities: false };
  follow: Follow = 'none';
  selected = -1;
  /** Whether someone has moved the camera since the run was loaded. */
  moved = false;
  onPick: (body: number) => void = () => undefined;
  onMove: () => void = () => undefined;

  private renderer: WebGLRenderer;
  private scene = new Scene();
  private camera = new PerspectiveCamera(38, 1, 0.01, 1000);
  private controls: OrbitControls;
  private sun = new DirectionalLight(0xffffff, 2.4);
  private sky = new HemisphereLight(0xffffff, 0xffffff, 1.7);
  private bodies: Bodies | null = null;
  private backdrop: Backdrop | null = null;
  private trails: Trails | null = null;
  private links: Links | null = null;
  private rods: Rod[] = [];
  private arrows = new Arrows();
  private labels: HTMLElement;
  private names: HTMLElement[] = [];
  private timeline: Timeline | null = null;
  private holds: readonly Hold[] = [];
  private largestForce = 0;
  private poses = new Float64Array(0);
  private radii = new Float64Array(0);
  private up = new Vector3(0, 0, 1);
  private radius = 1;
  private size = 1;
  private centre = new Vector3();
  private extent = new Vector3(1, 1, 1);
  private middle = new Vector3();
  private resizing: ResizeObserver;

  constructor(private readonly container: HTMLElement, label: string) {
    this.canvas = element('canvas', { class: 'view', 'aria-label': label, role: 'img' });
    this.labels = element('div', { class: 'names', 'aria-hidden': 'true' });
    this.container.prepend(this.canvas, this.labels);
    this.renderer = renderer(this.canvas);
    this.renderer.setPixelRatio(Math.min(2, window.devicePixelRatio));
    this.renderer.shadowMap.type = PCFShadowMap;
    this.renderer.info.autoReset = false;
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.enableDamping = false;
    this.controls.addEventListener('change', () => this.onMove());
    this.controls.addEventListener('start', () => {
      this.moved = true;
    });
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.bias = -0.0015;
    this.scene.add(this.sky, this.sun, this.sun.target, new AmbientLight(0xffffff, 0.35), this.arrows.root);
    this.resizing = new ResizeObserver(() => this.resize());
    this.resizing.observe(container);
    this.listen();
    this.resize();
  }

  /** Shows another run from now on. */
  load(timeline: Timeline): void {
    this.clear();
    const header = timeline.header;
    this.timeline = timeline;
    this.poses = new Float64Array(7 * timeline.bodies);
    this.radii = Float64Array.from(header.bodies, (body) => Math.hypot(...body.shape.semi_axes) / Math.sqrt(3));
    this.rods = rodsOf(timeline);
    this.measure(timeline);
    this.links = new Links(this.rods, 0.03 * this.size);
    this.bodies = new Bodies(header, 0.03 * this.radius);
    this.backdrop = new Backdrop(header, this.centre, this.radius);
    this.trails = new Trails(Math.min(TRAILS, timeline.bodies));
    this.renderer.shadowMap.enabled = timeline.bodies <= 300;
    this.sun.castShadow = this.renderer.shadowMap.enabled;
    this.scene.add(this.backdrop.root, this.bodies.root, this.trails.root, this.links.root);
    this.names = header.bodies.slice(0, NAMES + 1).map((body) => element('span', { hidden: true }, body.name));
    this.labels.replaceChildren(...this.names);
    const walled = header.planes.length > 0 || this.rods.length > 0 || header.periodic !== null || header.bodies.some((body) => body.fixed);
    this.follow = walled ? 'none' : 'all';
    this.moved = false;
    this.paint();
    this.fit();
  }

  /** The contacts that last, known once the run has ended. */
  setHolds(holds: readonly Hold[]): void {
    this.holds = holds;
    this.largestForce = 0;
    for (const hold of holds) {
      for (const force of hold.forces) this.largestForce = Math.max(this.largestForce, Math.abs(size(hold, force)));
    }
  }

  // The size of the scene: where the bodies are over the first part of the run, or the box.
  private measure(timeline: Timeline): void {
    const { header } = timeline;
    const gravity = new Vector3(...header.gravity);
    this.up.set(0, 0, 1);
    if (gravity.length() > 0) this.up.copy(gravity).normalize().negate();
    const sizes = [...this.radii].filter((r) => r > 0).sort((a, b) => a - b);
    this.size = sizes[sizes.length >> 1] ?? 0.1;
    const low = new Vector3(Infinity, Infinity, Infinity);
    const high = new Vector3(-Infinity, -Infinity, -Infinity);
    // Fixed bodies that dwarf the others are scenery, not what one came to see.
    const all = header.bodies.map((_, i) => i);
    const largest = all.reduce((most, i) => (header.bodies[i].fixed ? most : Math.max(most, this.radii[i])), 0);
    const counted = largest > 0 ? all.filter((i) => !header.bodies[i].fixed || this.radii[i] < 8 * largest) : all;
    const bound = header.planes.length > 0 || this.rods.length > 0;
    const instants = bound && header.periodic === null ? 24 : 1;
    const span = Math.min(timeline.end, header.until);
    for (let k = 0; k < instants; k++) {
      timeline.poses(timeline.start + (span * k) / Math.max(1, instants - 1), this.poses);
      this.fold();
      for (const body of counted) {
        const r = this.reach(body);
        const at = new Vector3(this.poses[7 * body], this.poses[7 * body + 1], this.poses[7 * body + 2]);
        low.min(at.clone().subScalar(r));
        high.max(at.addScalar(r));
      }
      for (const rod of this.rods) {
        const end = endOf(rod, this.poses);
        low.min(end);
        high.max(end);
      }
    }
    if (header.periodic !== null) {
      header.periodic.forEach((length, i) => {
        if (!(length > 0)) return;
        low.setComponent(i, 0);
        high.setComponent(i, length);
      });
    }
    if (!Number.isFinite(low.x)) {
      low.set(-1, -1, -1);
      high.set(1, 1, 1);
    }
    this.centre.addVectors(low, high).multiplyScalar(0.5);
    this.extent.subVectors(high, low).multiplyScalar(0.5);
    this.radius = Math.max(this.extent.length(), 1e-9);
  }

  // The radius of the sphere about a body, but the mean one for a long body, which mostly does not point at us.
  private reach(body: number): number {
    const axes = this.timeline?.header.bodies[body].shape.semi_axes ?? [0, 0, 0];
    return Math.max(this.radii[body], 0.8 * Math.max(...axes));
  }

  /** Colours of the theme. */
  paint(): void {
    const colours = palette();
    this.scene.background = new Color(colours.background);
    this.sky.color.set(colours.sky);
    this.sky.groundColor.set(colours.ground);
    this.bodies?.paint(colours);
    this.backdrop?.paint(colours);
    this.links?.paint(colours.fixed);
    this.names.forEach((name, i) => {
      if (this.timeline !== null) name.style.setProperty('--body', `#${Bodies.colour(this.timeline.header, i, colours).getHexString()}`);
    });
  }

  /** Puts the camera where it sees the whole. */
  fit(): void {
    const across = new Vector3(1, 0, 0);
    if (Math.abs(across.dot(this.up)) > 0.9) across.set(0, 1, 0);
    across.addScaledVector(this.up, -across.dot(this.up)).normalize();
    const away = new Vector3().crossVectors(this.up, across);
    const direction = new Vector3()
      .addScaledVector(away, -0.86).addScaledVector(across, 0.42).addScaledVector(this.up, 0.46).normalize();
    const distance = 1.08 * this.distanceFor(direction, this.extent);
    this.camera.up.copy(this.up);
    this.controls.target.copy(this.centre);
    this.camera.position.copy(this.centre).addScaledVector(direction, distance);
    this.middle.copy(this.centre);
    this.controls.update();
    this.onMove();
  }

  /** Sees the whole again once the window has its new shape, unless someone has looked around. */
  refit(): void {
    requestAnimationFrame(() => {
      this.resize();
      if (!this.moved && this.timeline !== null) this.fit();
    });
  }

  // How far back the camera stands to have every corner of a box in view, given half of its sides.
  private distanceFor(direction: Vector3, extent: Vector3): number {
    const right = new Vector3().crossVectors(this.up, direction).normalize();
    const top = new Vector3().crossVectors(direction, right);
    const tangent = Math.tan((this.camera.fov * Math.PI) / 360);
    const corner = new Vector3();
    let distance = 0;
    for (let k = 0; k < 8; k++) {
      corner.set(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1).multiply(extent);
      const across = Math.abs(corner.dot(right)) / (tangent * this.camera.aspect);
      const above = Math.abs(corner.dot(top)) / tangent;
      distance = Math.max(distance, corner.dot(direction) + Math.max(across, above));
    }
    return distance;
  }

  /** Looks from where another stage's camera looks. */
  lookLike(other: Stage): void {
    this.camera.position.copy(other.camera.position);
    this.camera.up.copy(other.camera.up);
    this.controls.target.copy(other.controls.target);
    this.middle.copy(other.middle);
    this.controls.update();
  }

  /** Where a body is at the time last drawn. */
  position(body: number): Vector {
    return [this.poses[7 * body], this.poses[7 * body + 1], this.poses[7 * body + 2]];
  }

  private fold(): void {
    const box = this.timeline?.header.periodic;
    if (box === null || box === undefined) return;
    for (let body = 0; body < this.radii.length; body++) {
      for (let k = 0; k < 3; k++) {
        if (box[k] > 0) this.poses[7 * body + k] -= box[k] * Math.floor(this.poses[7 * body + k] / box[k]);
      }
    }
  }

  /** Draws time t; events show for as long as `recent`, and the chosen one beside, trails go back as far as `trail`. */
  draw(t: number, recent: number, trail: number, chosen: RunEvent | null): void {
    const timeline = this.timeline;
    if (timeline === null || this.bodies === null || !timeline.ready) return;
    const begun = performance.now();
    timeline.poses(t, this.poses);
    this.fold();
    this.bodies.place(this.poses);
    this.links?.place(this.poses);
    this.track();
    this.drawTrails(timeline, t, trail);
    this.drawArrows(timeline, t, recent, chosen);
    this.light();
    this.drawNames(timeline.header);
    this.cost.scriptMs = performance.now() - begun;
    this.renderer.info.reset();
    this.renderer.render(this.scene, this.camera);
    this.cost.submitMs = performance.now() - begun - this.cost.scriptMs;
    this.cost.drawCalls = this.renderer.info.render.calls;
    this.cost.triangles = this.renderer.info.render.triangles;
  }

  // The camera goes along with what it follows; with all bodies it also stands back as they part.
  private track(): void {
    const now = new Vector3();
    if (this.follow === 'none' || this.timeline === null) return;
    if (this.follow === 'all') {
      const low = new Vector3(Infinity, Infinity, Infinity);
      const high = new Vector3(-Infinity, -Infinity, -Infinity);
      const at = new Vector3();
      for (let body = 0; body < this.radii.length; body++) {
        at.fromArray(this.poses, 7 * body);
        const r = this.reach(body);
        low.min(at.subScalar(r));
        high.max(at.addScalar(2 * r));
      }
      now.addVectors(low, high).multiplyScalar(0.5);
      const sight = this.camera.position.clone().sub(this.controls.target);
      const needed = 1.05 * this.distanceFor(sight.clone().normalize(), high.sub(low).multiplyScalar(0.5));
      if (sight.length() < needed) this.camera.position.copy(this.controls.target).add(sight.setLength(needed));
    } else {
      now.fromArray(this.poses, 7 * this.follow);
    }
    const step = now.clone().sub(this.middle);
    this.middle.copy(now);
    if (step.lengthSq() === 0) return;
    this.controls.target.add(step);
    this.camera.position.add(step);
  }

  /** Starts to follow: what is followed comes to the middle of the picture. */
  setFollow(follow: Follow): void {
    this.follow = follow;
    if (typeof follow === 'number') {
      const at = new Vector3().fromArray(this.poses, 7 * follow);
      this.camera.position.add(at.clone().sub(this.controls.target));
      this.controls.target.copy(at);
      this.middle.copy(at);
    } else if (follow === 'all') {
      this.middle.copy(this.controls.target);
    }
    this.onMove();
  }

  private drawTrails(timeline: Timeline, t: number, span: number): void {
    if (this.trails === null) return;
    const many = timeline.bodies > TRAILS;
    const chosen = typeof this.follow === 'number' ? this.follow : this.selected;
    const bodies = many ? (chosen >= 0 ? [chosen] : []) : timeline.header.bodies.map((_, i) => i);
    const drawn = this.layers.trails ? bodies.filter((body) => !timeline.header.bodies[body].fixed) : [];
    const colours = palette();
    this.trails.draw(timeline, drawn, t, span, (body) => Bodies.colour(timeline.header, body, colours),
      new Color(colours.background), timeline.header.periodic);
  }

  private drawArrows(timeline: Timeline, t: number, recent: number, chosen: RunEvent | null): void {
    const colours = palette();
    const colour = {
      contact: new Color(colours.contact), normal: new Color(colours.normal), impulse: new Color(colours.impulse),
      force: new Color(colours.force), spin: new Color(colours.spin),
    };
    const width = 0.05 * this.size;
    const at = new Vector3();
    const along = new Vector3();
    this.arrows.clear();
    const contact = (event: RunEvent, strength: number): void => {
      at.fromArray(this.foldPoint(event.point));
      if (this.layers.contacts) {
        this.arrows.arrow(at, along.fromArray(event.normal).multiplyScalar(0.8 * this.size), 0.45 * width, colour.normal);
        this.arrows.dot(at, 0.055 * this.size * (0.5 + 0.5 * strength), colour.contact);
      }
      const largest = timeline.largestImpulse;
      if (!this.layers.impulses || largest === 0 || event.kind !== 'impact') return;
      const length = (2.2 * this.size * strength * Math.hypot(...event.impulse_vector)) / largest;
      along.fromArray(event.impulse_vector).setLength(Math.max(length, 0.25 * this.size * strength));
      this.arrows.arrow(at, along, width, colour.impulse);
      this.arrows.arrow(at, along.negate(), width, colour.impulse);
    };
    const last = timeline.eventTimes.upTo(t);
    for (let i = last - 1; i >= 0 && last - i <= RECENT; i--) {
      const event = timeline.events[i];
      const age = t - event.time;
      if (age > recent) break;
      if (event !== chosen) contact(event, recent > 0 ? 1 - 0.8 * (age / recent) : 1);
    }
    if (chosen !== null && Math.abs(chosen.time - t) <= recent) contact(chosen, 1);
    if (this.layers.forces) this.drawForces(timeline, t, width, colour.force, colour.contact);
    if (this.layers.spins) this.drawSpins(timeline, t, width, colour.spin);
    if (this.layers.velocities) this.drawVelocities(timeline, t, width, colour.normal);
    this.arrows.finish();
  }

  // A smooth contact presses along the normal, so that the force says where on the body it acts.
  private drawForces(timeline: Timeline, t: number, width: number, colour: Color, dot: Color): void {
    const along = new Vector3();
    const at = new Vector3();
    for (const hold of this.holds) {
      const force = forceAt(hold, t);
      if (force === null) continue;
      const normal = along.fromArray(hold.normal ?? force).normalize();
      this.extreme(timeline.header.bodies[hold.body].shape, hold.body, normal.clone().negate(), at);
      along.multiplyScalar((2.2 * this.size * size(hold, force)) / this.largestForce);
      this.arrows.arrow(at, along, width, colour);
      this.arrows.arrow(at, along.negate(), width, colour);
      this.arrows.dot(at, 0.05 * this.size, dot);
    }
  }

  // Each body's angular momentum about its centre, R diag(J) Rᵀ ω, at its centre; the longest is three bodies long.
  private drawSpins(timeline: Timeline, t: number, width: number, colour: Color): void {
    const momenta: { at: Vector3; value: Vector3 }[] = [];
    for (let body = 0; body < Math.min(timeline.bodies, 150); body++) {
      const { fixed, inertia } = timeline.header.bodies[body];
      const spin = timeline.spin(body, t);
      if (fixed || spin === null) continue;
      const [w, x, y, z] = this.poses.subarray(7 * body + 3, 7 * body + 7);
      const turn = new Quaternion(x, y, z, w);
      const value = new Vector3(...spin).applyQuaternion(turn.clone().conjugate());
      value.set(value.x * inertia[0], value.y * inertia[1], value.z * inertia[2]).applyQuaternion(turn);
      momenta.push({ at: new Vector3().fromArray(this.poses, 7 * body), value });
    }
    const largest = Math.max(...momenta.map(({ value }) => value.length()), 0);
    if (largest === 0) return;
    for (const { at, value } of momenta) {
      this.arrows.arrow(at, value.multiplyScalar((3 * this.size) / largest), 0.8 * width, colour);
    }
  }

  // Each body's velocity at its centre; the longest is three bodies long.
  private drawVelocities(timeline: Timeline, t: number, width: number, colour: Color): void {
    const many = Math.min(timeline.bodies, 150);
    const velocities = Array.from({ length: many }, (_, body) => new Vector3(...timeline.state(body, t).velocity));
    const largest = Math.max(...velocities.map((velocity) => velocity.length()), 0);
    if (largest === 0) return;
    velocities.forEach((velocity, body) => {
      const at = new Vector3().fromArray(this.poses, 7 * body);
      this.arrows.arrow(at, velocity.multiplyScalar((3 * this.size) / largest), 0.8 * width, colour);
    });
  }

  private foldPoint(point: Vector): Vector {
    const box = this.timeline?.header.periodic;
    if (box === null || box === undefined) return point;
    return point.map((x, i) => (box[i] > 0 ? x - box[i] * Math.floor(x / box[i]) : x)) as Vector;
  }

  // The sun stands at the camera's left shoulder; its shadows cover what is in view.
  private light(): void {
    const distance = this.camera.position.distanceTo(this.controls.target);
    const reach = Math.min(1.6 * this.radius, 0.9 * distance);
    this.camera.near = Math.max(1e-3 * distance, distance - 40 * this.radius);
    this.camera.far = distance + 60 * this.radius;
    this.camera.updateProjectionMatrix();
    const side = new Vector3().setFromMatrixColumn(this.camera.matrixWorld, 0);
    this.sun.target.position.copy(this.controls.target);
    this.sun.position.copy(this.controls.target)
      .addScaledVector(this.up, 3 * reach).addScaledVector(side, -1.6 * reach)
      .addScaledVector(this.camera.position.clone().sub(this.controls.target).normalize(), 1.5 * reach);
    const shadow = this.sun.shadow.camera;
    shadow.left = shadow.bottom = -reach;
    shadow.right = shadow.top = reach;
    shadow.near = 0.1 * reach;
    shadow.far = 8 * reach;
    shadow.updateProjectionMatrix();
    this.sun.target.updateMatrixWorld();
  }

  private drawNames(header: Header): void {
    const many = header.bodies.length > NAMES;
    const width = this.container.clientWidth;
    const height = this.container.clientHeight;
    const at = new Vector3();
    this.camera.updateMatrixWorld();
    this.names.forEach((name, body) => {
      const shown = this.layers.names && (!many || body === this.selected);
      name.hidden = !shown;
      if (!shown) return;
      this.extreme(header.bodies[body].shape, body, this.up, at).project(this.camera);
      name.hidden = at.z > 1 || Math.abs(at.x) > 1.1 || Math.abs(at.y) > 1.1;
      name.style.transform =
        `translate(${(0.5 + 0.5 * at.x) * width}px, ${(0.5 - 0.5 * at.y) * height}px) translate(-50%, -120%)`;
    });
  }

  // The point of a body furthest along a direction: the support point of its shape, x_i = a_i sign(m_i) (|m_i| / ‖m‖_q)^{q/p}
  // with m = a n, 1/p + 1/q = 1, and n the direction in the body's axes.
  private extreme(shape: Shape, body: number, direction: Vector3, out: Vector3): Vector3 {
    const at = 7 * body;
    const turn = new Quaternion(this.poses[at + 4], this.poses[at + 5], this.poses[at + 6], this.poses[at + 3]);
    const p = exponentOf(shape);
    const q = p / (p - 1);
    out.copy(direction).applyQuaternion(turn.clone().conjugate());
    const m = shape.semi_axes.map((a, i) => a * out.getComponent(i));
    const norm = m.reduce((sum, v) => sum + Math.abs(v) ** q, 0) ** (1 / q) || 1;
    shape.semi_axes.forEach((a, i) => out.setComponent(i, a * Math.sign(m[i]) * (Math.abs(m[i]) / norm) ** (q / p)));
    return out.applyQuaternion(turn).add(new Vector3().fromArray(this.poses, at));
  }

  // A click without a drag picks the body under it.
  private listen(): void {
    let pressed: { x: number; y: number } | null = null;
    this.canvas.addEventListener('pointerdown', (event) => {
      pressed = { x: event.clientX, y: event.clientY };
    });
    this.canvas.addEventListener('pointerup', (event) => {
      if (pressed === null || Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) > 4) return;
      const box = this.canvas.getBoundingClientRect();
      const place = new Vector2(
        (2 * (event.clientX - box.left)) / box.width - 1,
        1 - (2 * (event.clientY - box.top)) / box.height,
      );
      const ray = new Raycaster();
      ray.setFromCamera(place, this.camera);
      this.bodies?.refreshBounds();
      const hit = this.bodies === null ? undefined : ray.intersectObject(this.bodies.root, true)[0];
      this.selected = hit?.instanceId === undefined ? -1 : (this.bodies?.bodyOf(hit.object, hit.instanceId) ?? -1);
      this.onPick(this.selected);
      this.onMove();
    });
  }

  private resize(): void {
    const width = Math.max(1, this.container.clientWidth);
    const height = Math.max(1, this.container.clientHeight);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.onMove();
  }

  private clear(): void {
    for (const item of [this.bodies, this.backdrop, this.trails, this.links]) {
      if (item === null) continue;
      this.scene.remove(item.root);
      item.dispose();
    }
    this.bodies = null;
    this.backdrop = null;
    this.trails = null;
    this.links = null;
    this.timeline = null;
    this.holds = [];
    this.selected = -1;
  }

  dispose(): void {
    this.clear();
    this.resizing.disconnect();
    this.controls.dispose();
    this.arrows.dispose();
    this.renderer.dispose();
    this.canvas.remove();
    this.labels.remove();
  }
}
