// Play, speed, scrub and step: the controls below the stage.

import { SPEEDS, type Clock } from './clock';
import { element, part } from './dom';
import { full, short } from './format';
import { palette } from './theme';
import type { Timeline } from './timeline';

export class Transport {
  private play = part<HTMLButtonElement>('play');
  private scrub = part<HTMLInputElement>('scrub');
  private now = part<HTMLOutputElement>('now');
  private length = part('length');
  private speed = part<HTMLSelectElement>('speed');
  private ticks = part<HTMLCanvasElement>('ticks');
  private timeline: Timeline | null = null;
  private ticked = '';
  /** Whether someone has chosen a speed for this run. */
  chosen = false;

  constructor(
    private readonly clock: Clock,
    private readonly changed: () => void,
  ) {
    this.speed.append(...SPEEDS.map((speed) => element('option', { value: speed }, `${speed}×`)));
    this.play.addEventListener('click', () => this.toggle());
    this.scrub.addEventListener('input', () => {
      this.clock.pause();
      this.clock.seek(Number(this.scrub.value));
      this.changed();
    });
    this.speed.addEventListener('change', () => {
      this.clock.speed = Number(this.speed.value);
      this.chosen = true;
    });
    part<HTMLInputElement>('slow').addEventListener('change', (event) => {
      this.clock.slow = (event.target as HTMLInputElement).checked;
    });
    part('previous').addEventListener('click', () => this.event(-1));
    part('next').addEventListener('click', () => this.event(1));
    new ResizeObserver(() => this.drawTicks(true)).observe(this.ticks);
  }

  load(timeline: Timeline): void {
    this.timeline = timeline;
    this.ticked = '';
    this.chosen = false;
    this.showSpeed();
  }

  /** Shows the clock's speed. */
  showSpeed(): void {
    this.speed.value = String(this.clock.speed);
  }

  toggle(): void {
    if (this.clock.playing) this.clock.pause();
    else this.clock.play();
    this.changed();
  }

  /** To the start of the event before or after the time shown. */
  event(direction: -1 | 1): void {
    if (this.timeline === null) return;
    const index =
      direction > 0 ? this.timeline.eventAfter(this.clock.time) : this.timeline.eventBefore(this.clock.time);
    const event = this.timeline.events[index];
    if (event === undefined) return;
    this.clock.pause();
    this.clock.seek(event.time);
    this.onEvent(index);
    this.changed();
  }

  onEvent: (index: number) => void = () => undefined;

  /** One sampling interval back or on, or several. */
  step(intervals: number): void {
    const sample = this.timeline?.header.sample ?? 0;
    const interval = sample > 0 ? sample : this.clock.end / 500;
    this.clock.pause();
    this.clock.seek(this.clock.time + intervals * interval);
    this.changed();
  }

  // The length of the run: as it was asked for while it goes on, as it came out afterwards.
  private get whole(): number {
    const asked = this.timeline?.ending === null ? this.timeline.header.until : 0;
    return Math.max(this.clock.end, asked);
  }

  show(): void {
    const { time, playing } = this.clock;
    const { whole } = this;
    if (this.scrub.max !== String(whole)) this.scrub.max = String(whole);
    this.scrub.value = String(time);
    const text = `${short(time, 8)} s`;
    this.scrub.setAttribute('aria-valuetext', text);
    this.now.textContent = text;
    this.now.dataset['value'] = full(time);
    this.length.textContent = `/ ${short(whole, 6)} s`;
    const label = playing ? 'Pause' : 'Play';
    if (this.play.getAttribute('aria-label') !== label) {
      this.play.setAttribute('aria-label', label);
      this.play.dataset['icon'] = playing ? 'pause' : 'play';
    }
    this.drawTicks(false);
  }

  // Events as ticks below the slider; too many for the pixels there are just fill it.
  drawTicks(again: boolean): void {
    const timeline = this.timeline;
    if (timeline === null) return;
    const { whole } = this;
    const state = `${timeline.events.length} ${whole} ${timeline.end}`;
    if (!again && state === this.ticked) return;
    this.ticked = state;
    const ratio = window.devicePixelRatio;
    const width = Math.round(this.ticks.clientWidth * ratio);
    const height = Math.round(this.ticks.clientHeight * ratio);
    this.ticks.width = width;
    this.ticks.height = height;
    const context = this.ticks.getContext('2d');
    if (context === null || whole <= 0) return;
    const colours = palette();
    context.fillStyle = colours.grid;
    context.fillRect(0, height * 0.4, width, height * 0.2);
    context.fillStyle = colours.muted;
    context.fillRect(0, height * 0.4, (width * timeline.end) / whole, height * 0.2);
    let lastPixel = -2;
    for (const event of timeline.events) {
      const x = Math.round((width * event.time) / whole);
      if (x === lastPixel) continue;
      lastPixel = x;
      context.fillStyle =
        event.kind.startsWith('hold') || event.kind.startsWith('pass') ? colours.force : colours.impulse;
      context.fillRect(Math.min(width - ratio, x), 0, Math.max(1, ratio * 1.5), height);
    }
  }
}
