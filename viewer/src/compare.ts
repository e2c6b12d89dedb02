// The paradox twice: the contact held, and passed as an impulsive law would have it; two stages, one clock.

import * as api from './api';
import { element, part } from './dom';
import { forceAt, type Hold, heldForces, size } from './forces';
import { full, short } from './format';
import type { GapCurve, RunEvent } from './protocol';
import { Session } from './session';
import { Stage } from './stage';

/** Whether an event is one of the paradox, which the rigid model's impulses do not resolve. */
export const isParadox = (event: RunEvent): boolean => event.type.startsWith('paradox');

/** The value of a curve at a time, linear between its points; null outside. */
export function valueAt(
  times: ArrayLike<number>,
  values: ArrayLike<number | null>,
  t: number,
): number | null {
  const last = times.length - 1;
  if (last < 0 || t < times[0] || t > times[last]) return null;
  let low = 0;
  let high = last;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle;
    else high = middle;
  }
  const a = values[low];
  const b = values[high];
  if (a === null || b === null) return null;
  const width = times[high] - times[low];
  return width > 0 ? a + ((b - a) * (t - times[low])) / width : a;
}

/** A line below a stage that says what the contact does now: the force, or the overlap. */
export class Caption {
  readonly root = element('p', { class: 'caption' });
  private curve: GapCurve | null = null;

  constructor(private name: string) {
    this.setName(name);
  }

  setName(name: string): void {
    this.name = name;
    this.root.dataset['mode'] = name;
  }

  /** Fetches the gap of the run's first paradox, for as long as the overlap or the hold lasts. */
  async load(session: Session): Promise<void> {
    const timeline = session.timeline;
    const event = timeline?.events.find((e) => isParadox(e) || e.kind === 'pass_begin');
    if (timeline === null || timeline === undefined || event === undefined) return;
    const after = timeline.events.find((e) => e.time > event.time);
    const span = Math.max(2 * ((after?.time ?? timeline.end) - event.time), 1e-3 * timeline.end);
    this.curve = await api.gap(session.id, event.number, span, 801).catch(() => null);
  }

  show(t: number, holds: readonly Hold[]): void {
    const gap = this.curve === null ? null : valueAt(this.curve.times, this.curve.gap, t);
    const held = holds.find((hold) => t >= hold.from && t <= hold.until);
    const now = held === undefined ? null : forceAt(held, t);
    const force = held === undefined || now === null ? 0 : size(held, now);
    const overlap = gap !== null && gap < -1e-9 ? `, overlap ${short(-gap, 4)}` : '';
    const pushing = force > 0 ? `, force ${short(force, 4)}` : '';
    this.root.textContent = `${this.name}${pushing}${overlap}`;
    this.root.dataset['gap'] = full(gap);
    this.root.dataset['force'] = full(force);
  }

  clear(): void {
    this.curve = null;
  }
}

/** The second stage, with a run of its own. */
export class Other {
  readonly session: Session;
  readonly stage: Stage;
  readonly caption: Caption;
  holds: Hold[] = [];
  private place: HTMLElement;

  constructor(
    id: string,
    mode: string,
    first: Stage,
    private readonly changed: () => void,
  ) {
    this.place = element('div', { class: 'stage', id: 'other-stage' });
    part('stages').append(this.place);
    part('stages').dataset['two'] = '';
    this.stage = new Stage(this.place, `The bodies, ${mode}`);
    this.caption = new Caption(mode);
    this.place.append(this.caption.root);
    this.session = new Session(id);
    this.session.onReady = (timeline) => {
      this.stage.load(timeline);
      this.stage.layers = first.layers;
      this.stage.eye.follow = first.eye.follow;
      this.stage.eye.lookLike(first.eye);
      changed();
    };
    this.session.onChange = changed;
    this.session.onEnd = () => {
      if (this.session.timeline !== null) this.holds = heldForces(this.session.timeline);
      this.stage.setHolds(this.holds);
      void this.caption.load(this.session).then(this.changed);
    };
    void this.session.read();
  }

  close(): void {
    this.session.leave();
    this.stage.dispose();
    this.place.remove();
    delete part('stages').dataset['two'];
  }
}
