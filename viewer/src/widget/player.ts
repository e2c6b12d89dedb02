// A finished run in a box of its own: the stage, and below it play, time line and events.
//
// It needs no program behind it: all that is known of the run came with it.

import { Clock, SPEEDS, speedFor } from '../clock';
import { button, element } from '../dom';
import { heldForces } from '../forces';
import { full, short, words } from '../format';
import { Decoder, type RunEvent } from '../protocol';
import { Stage } from '../stage';
import { palette, reducedMotion, theme } from '../theme';
import { Timeline } from '../timeline';

// How long, in seconds of the viewer's time, an event shows and a trail is.
const LINGER = 0.8;
const TRAIL = 2.5;

/** The timeline of a whole stream. */
export function timelineOf(bytes: Uint8Array): Timeline {
  const decoder = new Decoder();
  let timeline: Timeline | null = null;
  for (const message of decoder.push(bytes)) {
    if (message.kind === 'header') timeline = new Timeline(message.header);
    else timeline?.add(message);
  }
  if (timeline === null || !timeline.ready || !decoder.whole)
    throw new Error('The stream of the run is broken.');
  return timeline;
}

/** What is said of an event in one line. */
export function saying(event: RunEvent): string {
  const type = event.type === '' || event.type === event.kind ? '' : ` (${words(event.type)})`;
  const impulse = event.impulse !== 0 ? `, impulse ${short(event.impulse, 5)} N s` : '';
  return `${words(event.kind)} of ${event.bodies.join(' and ')}${type} at t = ${short(event.time, 8)} s${impulse}`;
}

export class Player {
  readonly clock = new Clock();
  readonly timeline: Timeline;
  /** Called where playing ends or someone goes to a time. */
  onTime: (time: number) => void = () => undefined;

  private readonly stage: Stage;
  private readonly play = button('▶', () => this.toggle(), { class: 'play', 'aria-label': 'Play' });
  private readonly scrub = element('input', {
    class: 'scrub',
    type: 'range',
    min: 0,
    step: 'any',
    'aria-label': 'Time',
  });
  private readonly ticks = element('canvas', { class: 'ticks', 'aria-hidden': 'true' });
  private readonly now = element('output', { class: 'now' });
  private readonly caption = element('div', { class: 'event', 'aria-live': 'polite' });
  private readonly watching: ResizeObserver;
  private dirty = true;
  private before = 0;
  private frame: number;
  private ended = false;

  constructor(place: HTMLElement, bytes: Uint8Array, height: number) {
    this.timeline = timelineOf(bytes);
    const box = element('div', { class: 'stage' });
    box.style.height = `${height}px`;
    const root = element('div', { class: 'player', tabindex: 0 }, box, this.bar(), this.caption);
    place.append(root);
    this.stage = new Stage(box, 'The bodies in three dimensions; drag to rotate, scroll to zoom');
    this.stage.onMove = () => this.redraw();
    this.clock.end = this.timeline.end;
    this.clock.speed = speedFor(this.timeline.end);
    this.stage.load(this.timeline);
    this.stage.setHolds(heldForces(this.timeline));
    this.scrub.max = String(this.timeline.end);
    this.watching = new ResizeObserver(() => this.redraw());
    this.watching.observe(root);
    root.addEventListener('keydown', (event) => this.key(event));
    this.scrub.addEventListener('input', () => this.seek(Number(this.scrub.value)));
    this.frame = requestAnimationFrame((time) => this.tick(time));
  }

  private bar(): HTMLElement {
    const speed = element('select', { class: 'speed', 'aria-label': 'Speed, in seconds a second' });
    speed.append(...SPEEDS.map((value) => element('option', { value }, `${value}×`)));
    queueMicrotask(() => (speed.value = String(this.clock.speed)));
    speed.addEventListener('change', () => (this.clock.speed = Number(speed.value)));
    return element(
      'div',
      { class: 'bar' },
      this.play,
      button('⏮', () => this.event(-1), { class: 'previous', 'aria-label': 'Previous event' }),
      button('⏭', () => this.event(1), { class: 'next', 'aria-label': 'Next event' }),
      element('div', { class: 'line' }, this.scrub, this.ticks),
      this.now,
      speed,
      button('⤢', () => this.stage.fit(), { class: 'fit', 'aria-label': 'See the whole' }),
    );
  }

  /** Goes to a time and stays there. */
  seek(time: number): void {
    this.clock.pause();
    this.clock.seek(time);
    this.redraw();
    this.onTime(this.clock.time);
  }

  /** To the event before or after the time shown. */
  event(direction: -1 | 1): void {
    const { timeline, clock } = this;
    const index = direction > 0 ? timeline.eventAfter(clock.time) : timeline.eventBefore(clock.time);
    const event = timeline.events[index];
    if (event !== undefined) this.seek(event.time);
  }

  toggle(): void {
    if (this.clock.playing) this.clock.pause();
    else this.clock.play();
    if (!this.clock.playing) this.onTime(this.clock.time);
    this.redraw();
  }

  /** Colours of the notebook. */
  paint(): void {
    this.stage.paint();
    this.redraw();
  }

  private key(event: KeyboardEvent): void {
    const target = event.composedPath()[0];
    if (event.ctrlKey || event.metaKey || event.altKey || target instanceof HTMLSelectElement) return;
    if (event.key === ' ' && target instanceof HTMLButtonElement) return;
    const action = {
      ' ': () => this.toggle(),
      ',': () => this.event(-1),
      '.': () => this.event(1),
      Home: () => this.seek(0),
      End: () => this.seek(this.clock.end),
      f: () => this.stage.fit(),
    }[event.key];
    if (action === undefined) return;
    // The notebook has keys of its own.
    event.preventDefault();
    event.stopPropagation();
    action();
  }

  private redraw(): void {
    this.dirty = true;
  }

  private tick(now: number): void {
    if (this.ended) return;
    this.frame = requestAnimationFrame((next) => this.tick(next));
    const seconds = Math.min(0.1, Math.max(0, (now - this.before) / 1000));
    this.before = now;
    const playing = this.clock.playing;
    if (this.clock.advance(seconds)) this.redraw();
    if (playing && !this.clock.playing) this.onTime(this.clock.time);
    if (!this.dirty) return;
    this.dirty = false;
    this.draw();
  }

  private draw(): void {
    const { time, speed, playing } = this.clock;
    const recent = LINGER * speed;
    const chosen = playing ? undefined : this.timeline.events[this.timeline.eventAfter(time, false)];
    const shown = chosen?.time === time ? chosen : null;
    this.stage.draw(time, recent, reducedMotion() ? 0 : TRAIL * speed, shown);
    this.scrub.value = String(time);
    const text = `${short(time, 6)} / ${short(this.clock.end, 6)} s`;
    this.scrub.setAttribute('aria-valuetext', text);
    this.now.textContent = text;
    this.now.dataset['value'] = full(time);
    this.play.textContent = playing ? '⏸' : '▶';
    this.play.setAttribute('aria-label', playing ? 'Pause' : 'Play');
    this.caption.textContent = shown !== null ? saying(shown) : this.summary();
    this.drawTicks();
  }

  private summary(): string {
    const { events, ending } = this.timeline;
    const contacts = events.filter((event, k) => event.number !== events[k - 1]?.number).length;
    const count = `${contacts} ${contacts === 1 ? 'event' : 'events'}`;
    return [count, ...(ending?.notes ?? [])].join('; ');
  }

  // Events as ticks below the slider.
  private drawTicks(): void {
    const width = Math.round(this.ticks.clientWidth * window.devicePixelRatio);
    if (width === 0 || this.ticks.dataset['drawn'] === `${width} ${theme()}`) return;
    this.ticks.dataset['drawn'] = `${width} ${theme()}`;
    this.ticks.width = width;
    this.ticks.height = 12;
    const context = this.ticks.getContext('2d');
    const end = this.clock.end;
    if (context === null || !(end > 0)) return;
    const colours = palette();
    let last = -2;
    for (const event of this.timeline.events) {
      const x = Math.round((width * event.time) / end);
      if (x === last) continue;
      last = x;
      context.fillStyle =
        event.kind.startsWith('hold') || event.kind.startsWith('pass') ? colours.force : colours.impulse;
      context.fillRect(Math.min(width - 2, x), 0, 2, 12);
    }
  }

  dispose(): void {
    this.ended = true;
    cancelAnimationFrame(this.frame);
    this.watching.disconnect();
    this.stage.dispose();
  }
}
