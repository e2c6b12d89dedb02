// The 3D picture of a run at one time: bodies, walls, joints, trails, arrows and names, lit and seen by a camera.

import {
  AmbientLight,
  Color,
  DirectionalLight,
  HemisphereLight,
  PCFShadowMap,
  Raycaster,
  Scene,
  Vector2,
  Vector3,
  WebGLRenderer,
} from 'three';
import { Backdrop } from './backdrop';
import { Bodies } from './bodies';
import { element } from './dom';
import { type Extent, extentOf } from './extent';
import { Eye, type Follow } from './eye';
import type { Hold } from './forces';
import { Links, rodsOf } from './links';
import { type MarkLayers, Marks } from './marks';
import type { RunEvent } from './protocol';
import { extreme, fold } from './support';
import { palette } from './theme';
import type { Timeline } from './timeline';
import { TRAILS, Trails } from './trails';

/** What is drawn beside the bodies. */
export interface Layers extends MarkLayers {
  trails: boolean;
  names: boolean;
}

/** What the last drawn frame cost. */
export interface Cost {
  scriptMs: number;
  submitMs: number;
  drawCalls: number;
  triangles: number;
}

const NAMES = 12;
const SHADOWS = 300;

/** All that a run puts on the stage. */
interface Scenery {
  timeline: Timeline;
  extent: Extent;
  poses: Float64Array;
  bodies: Bodies;
  backdrop: Backdrop;
  trails: Trails;
  links: Links;
  names: HTMLElement[];
}

function renderer(canvas: HTMLCanvasElement): WebGLRenderer {
  try {
    return new WebGLRenderer({ canvas, antialias: true, powerPreference: 'high-performance' });
  } catch {
    throw new Error('This browser cannot draw in three dimensions here: WebGL is disabled or missing.');
  }
}

export class Stage {
  readonly canvas: HTMLCanvasElement;
  readonly eye: Eye;
  readonly cost: Cost = { scriptMs: 0, submitMs: 0, drawCalls: 0, triangles: 0 };
  layers: Layers = {
    trails: true,
    contacts: true,
    impulses: true,
    forces: true,
    spins: false,
    velocities: false,
    names: true,
  };
  selected = -1;
  onPick: (body: number) => void = () => undefined;
  onMove: () => void = () => undefined;

  private renderer: WebGLRenderer;
  private scene = new Scene();
  private sun = new DirectionalLight(0xffffff, 2.4);
  private sky = new HemisphereLight(0xffffff, 0xffffff, 1.7);
  private marks = new Marks();
  private labels: HTMLElement;
  private set: Scenery | null = null;
  private resizing: ResizeObserver;

  constructor(
    private readonly container: HTMLElement,
    label: string,
  ) {
    this.canvas = element('canvas', { class: 'view', 'aria-label': label, role: 'img' });
    this.labels = element('div', { class: 'names', 'aria-hidden': 'true' });
    this.renderer = renderer(this.canvas);
    this.container.prepend(this.canvas, this.labels);
    this.renderer.setPixelRatio(Math.min(2, window.devicePixelRatio));
    this.renderer.shadowMap.type = PCFShadowMap;
    this.renderer.localClippingEnabled = true;
    this.renderer.info.autoReset = false;
    this.eye = new Eye(this.canvas);
    this.eye.onMove = () => this.onMove();
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.bias = -0.0015;
    this.scene.add(this.sky, this.sun, this.sun.target, new AmbientLight(0xffffff, 0.35), this.marks.root);
    this.resizing = new ResizeObserver(() => this.resize());
    this.resizing.observe(container);
    this.listen();
    this.resize();
  }

  /** Shows another run from now on. */
  load(timeline: Timeline): void {
    this.clear();
    const { header } = timeline;
    const rods = rodsOf(timeline);
    const extent = extentOf(timeline, rods);
    const names = header.bodies.slice(0, NAMES).map((body) => element('span', { hidden: true }, body.name));
    this.set = {
      timeline,
      extent,
      poses: new Float64Array(7 * timeline.bodies),
      bodies: new Bodies(header, 0.03 * extent.radius),
      backdrop: new Backdrop(header, extent.centre, extent.radius),
      trails: new Trails(Math.min(TRAILS, timeline.bodies)),
      links: new Links(rods, 0.05 * extent.size),
      names,
    };
    this.labels.replaceChildren(...names);
    this.renderer.shadowMap.enabled = timeline.bodies <= SHADOWS;
    this.sun.castShadow = this.renderer.shadowMap.enabled;
    this.scene.add(this.set.backdrop.root, this.set.bodies.root, this.set.trails.root, this.set.links.root);
    const anchored = header.planes.length > 0 || header.periodic !== null || rods.length > 0;
    this.eye.follow = anchored || header.bodies.some((body) => body.fixed) ? 'none' : 'all';
    this.eye.moved = false;
    this.paint();
    this.fit();
  }

  /** The contacts that last, known once the run has ended. */
  setHolds(holds: readonly Hold[]): void {
    this.marks.setHolds(holds);
  }

  /** Colours of the theme. */
  paint(): void {
    const colours = palette();
    this.scene.background = new Color(colours.background);
    this.sky.color.set(colours.sky);
    this.sky.groundColor.set(colours.ground);
    if (this.set === null) return;
    const { bodies, backdrop, links, names, timeline } = this.set;
    bodies.paint(colours);
    backdrop.paint(colours);
    links.paint(colours.fixed);
    names.forEach((name, i) => {
      name.style.setProperty('--body', `#${Bodies.colour(timeline.header, i, colours).getHexString()}`);
    });
  }

  /** Sees the whole. */
  fit(): void {
    if (this.set !== null) this.eye.fit(this.set.extent);
  }

  /** Sees the whole again once the window has its new shape, unless someone has looked around. */
  refit(): void {
    requestAnimationFrame(() => {
      this.resize();
      if (!this.eye.moved) this.fit();
    });
  }

  /** The places at which the bodies are drawn now, seven numbers each. */
  get places(): Float64Array {
    return this.set?.poses ?? new Float64Array();
  }

  setFollow(follow: Follow): void {
    if (this.set !== null) this.eye.setFollow(follow, this.set.poses);
  }

  /** Draws time t; events show for as long as `recent`, and the chosen one beside, trails go back as far as `trail`. */
  draw(t: number, recent: number, trail: number, chosen: RunEvent | null): void {
    if (this.set === null || !this.set.timeline.ready) return;
    const { timeline, extent, poses, bodies, links } = this.set;
    const begun = performance.now();
    timeline.poses(t, poses);
    fold(poses, timeline.header.periodic);
    bodies.place(poses);
    links.place(poses);
    this.eye.track(poses, extent);
    this.drawTrails(this.set, t, trail);
    this.marks.draw(timeline, poses, extent.size, this.layers, { t, recent, chosen }, palette());
    this.light(extent);
    this.drawNames(this.set);
    this.cost.scriptMs = performance.now() - begun;
    this.renderer.info.reset();
    this.renderer.render(this.scene, this.eye.camera);
    this.cost.submitMs = performance.now() - begun - this.cost.scriptMs;
    this.cost.drawCalls = this.renderer.info.render.calls;
    this.cost.triangles = this.renderer.info.render.triangles;
  }

  // A trail for every body while they are few, else for the one that was picked.
  private drawTrails({ timeline, trails }: Scenery, t: number, span: number): void {
    const { header } = timeline;
    const picked = typeof this.eye.follow === 'number' ? this.eye.follow : this.selected;
    const few =
      timeline.bodies <= TRAILS ? header.bodies.map((_, i) => i) : [picked].filter((body) => body >= 0);
    const drawn = this.layers.trails ? few.filter((body) => !header.bodies[body].fixed) : [];
    const colours = palette();
    const colour = (body: number): Color => Bodies.colour(header, body, colours);
    trails.draw(timeline, drawn, t, span, colour, new Color(colours.background), header.periodic);
  }

  // The sun stands at the camera's left shoulder; its shadows cover what is in view.
  private light({ radius, up }: Extent): void {
    const { camera, target } = this.eye;
    const sight = camera.position.clone().sub(target);
    const reach = Math.min(1.6 * radius, 0.9 * sight.length());
    const side = new Vector3().setFromMatrixColumn(camera.matrixWorld, 0);
    this.sun.target.position.copy(target);
    this.sun.position
      .copy(target)
      .addScaledVector(up, 3 * reach)
      .addScaledVector(side, -1.6 * reach)
      .addScaledVector(sight.normalize(), 1.5 * reach);
    const shadow = this.sun.shadow.camera;
    shadow.left = shadow.bottom = -reach;
    shadow.right = shadow.top = reach;
    shadow.near = 0.1 * reach;
    shadow.far = 8 * reach;
    shadow.updateProjectionMatrix();
    this.sun.target.updateMatrixWorld();
  }

  // Names stand above the bodies' highest points, while they are few.
  private drawNames({ timeline, extent, poses, names }: Scenery): void {
    const { bodies } = timeline.header;
    const width = this.container.clientWidth;
    const height = this.container.clientHeight;
    const at = new Vector3();
    names.forEach((name, body) => {
      if (!this.layers.names || bodies.length > NAMES) {
        name.hidden = true;
        return;
      }
      extreme(bodies[body].shape, poses, body, extent.up, at).project(this.eye.camera);
      name.hidden = at.z > 1 || Math.abs(at.x) > 1.1 || Math.abs(at.y) > 1.1;
      const [x, y] = [(0.5 + 0.5 * at.x) * width, (0.5 - 0.5 * at.y) * height];
      name.style.transform = `translate(${x}px, ${y}px) translate(-50%, -120%)`;
    });
  }

  // A click without a drag picks the body under it.
  private listen(): void {
    let pressed: { x: number; y: number } | null = null;
    this.canvas.addEventListener('pointerdown', (event) => {
      pressed = { x: event.clientX, y: event.clientY };
    });
    this.canvas.addEventListener('pointerup', (event) => {
      if (pressed === null || Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) > 4) return;
      this.pick(event.clientX, event.clientY);
    });
  }

  private pick(x: number, y: number): void {
    if (this.set === null) return;
    const { bodies } = this.set;
    const box = this.canvas.getBoundingClientRect();
    const place = new Vector2((2 * (x - box.left)) / box.width - 1, 1 - (2 * (y - box.top)) / box.height);
    const ray = new Raycaster();
    ray.setFromCamera(place, this.eye.camera);
    bodies.refreshBounds();
    const hit = ray.intersectObject(bodies.root, true)[0];
    this.selected = hit?.instanceId === undefined ? -1 : bodies.bodyOf(hit.object, hit.instanceId);
    this.onPick(this.selected);
    this.onMove();
  }

  private resize(): void {
    const width = Math.max(1, this.container.clientWidth);
    const height = Math.max(1, this.container.clientHeight);
    this.renderer.setSize(width, height, false);
    this.eye.setAspect(width / height);
    this.onMove();
  }

  private clear(): void {
    this.selected = -1;
    this.marks.setHolds([]);
    if (this.set === null) return;
    for (const item of [this.set.bodies, this.set.backdrop, this.set.trails, this.set.links]) {
      this.scene.remove(item.root);
      item.dispose();
    }
    this.set = null;
  }

  dispose(): void {
    this.clear();
    this.resizing.disconnect();
    this.eye.dispose();
    this.marks.dispose();
    this.renderer.dispose();
    this.canvas.remove();
    this.labels.remove();
  }
}
