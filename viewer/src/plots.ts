// Curves over time, linked to the clock: a line marks the time shown, and a click or a drag moves it.

import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { element } from './dom';
import { type Hold, size } from './forces';
import { full, short } from './format';
import type { RunEvent } from './protocol';
import { onTheme, palette } from './theme';
import type { Timeline } from './timeline';

/** One curve of a chart: its name and which of the theme's colours it has. */
export interface Curve {
  name: string;
  colour: number;
  dash?: number[];
  /** Drawn as stems from zero instead of a line. */
  stems?: boolean;
  /** Drawn as steps: each value holds until the next. */
  fill?: boolean;
}

export type Columns = ArrayLike<number | null>[];

/** A chart with its legend; values of the legend are those at the time shown. */
export class Chart {
  readonly root: HTMLElement;
  private plot: uPlot | null = null;
  private place = element('div', { class: 'curve', role: 'img' });
  private cursor = element('div', { class: 'cursor' });
  private values: HTMLElement[] = [];
  private columns: Columns = [[]];
  private time = 0;
  private range: [number, number] | null = null;
  private heading = element('h2');
  /** Whether the picture includes zero: what stands on it, as stems do, must be seen to. */
  private readonly rooted: boolean;

  constructor(
    readonly name: string,
    title: string,
    private readonly curves: Curve[],
    private readonly seek: (time: number) => void,
    private readonly height = 138,
  ) {
    const legend = element('ul', { class: 'legend' });
    for (const curve of curves) {
      const value = element('span', { class: 'value', 'data-curve': curve.name });
      const mark = element('i', { 'aria-hidden': 'true' });
      mark.style.setProperty('--curve', `var(--curve-${curve.colour})`);
      if (curve.dash !== undefined) mark.classList.add('dashed');
      this.values.push(value);
      legend.append(element('li', {}, mark, `${curve.name} `, value));
    }
    this.root = element('section', { class: 'chart', 'data-chart': name }, this.heading, legend, this.place);
    this.retitle(title);
    this.rooted = curves.some((curve) => curve.stems === true);
    new ResizeObserver(() => this.resize()).observe(this.place);
    onTheme(() => this.rebuild());
  }

  retitle(title: string): void {
    this.heading.textContent = title;
    this.place.setAttribute('aria-label', `${title} over time`);
  }

  /** The times that the chart spans, whatever its points do. */
  setRange(from: number, until: number): void {
    this.range = [from, until];
  }

  /** Times in the first column, then one column a curve. */
  set(columns: Columns): void {
    this.columns = columns;
    if (this.plot === null) this.rebuild();
    else this.plot.setData(this.whole());
    this.mark(this.time);
  }

  // A curve without a column is there, but empty.
  private whole(): uPlot.AlignedData {
    const empty = (): null[] => new Array<null>(this.columns[0].length).fill(null);
    return [
      this.columns[0],
      ...this.curves.map((_, i) => this.columns[i + 1] ?? empty()),
    ] as uPlot.AlignedData;
  }

  private resize(): void {
    const width = this.place.clientWidth;
    if (width < 10) return;
    if (this.plot === null) this.rebuild();
    else if (this.plot.width !== width) this.plot.setSize({ width, height: this.height });
    this.mark(this.time);
  }

  private rebuild(): void {
    const width = this.place.clientWidth;
    this.plot?.destroy();
    this.plot = null;
    if (width < 10 || this.columns[0].length === 0) return;
    const colours = palette();
    const axis: uPlot.Axis = {
      stroke: colours.muted,
      font: '11px system-ui, sans-serif',
      grid: { stroke: colours.grid, width: 1 },
      ticks: { stroke: colours.grid, width: 1, size: 4 },
    };
    const options: uPlot.Options = {
      width,
      height: this.height,
      padding: [8, 10, 0, 0],
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
      scales: {
        x: {
          time: false,
          range: (_, low, high) => this.range ?? (high > low ? [low, high] : [low - 1, high + 1]),
        },
        y: { range: (_, low, high) => padded(this.rooted ? Math.min(0, low) : low, high) },
      },
      axes: [
        { ...axis, size: 26, values: (_, ticks) => ticks.map((tick) => short(tick, 5)) },
        { ...axis, size: 62, values: (_, ticks) => ticks.map((tick) => short(tick, 5)) },
      ],
      series: [
        {},
        ...this.curves.map((curve) => this.series(curve, colours.series[curve.colour] ?? colours.ink)),
      ],
    };
    this.plot = new uPlot(options, this.whole(), this.place);
    this.plot.over.append(this.cursor);
    this.listen(this.plot);
    this.mark(this.time);
  }

  private series(curve: Curve, stroke: string): uPlot.Series {
    const series: uPlot.Series = {
      label: curve.name,
      stroke,
      width: 1.6,
      spanGaps: false,
      points: { show: false },
    };
    if (curve.dash !== undefined) series.dash = curve.dash;
    if (curve.stems === true && uPlot.paths.bars !== undefined) {
      series.paths = uPlot.paths.bars({ size: [0.001, 3, 2] });
      series.fill = stroke;
    }
    if (curve.fill === true) series.fill = `${stroke}30`;
    return series;
  }

  private listen(plot: uPlot): void {
    const go = (event: PointerEvent): void => {
      const box = plot.over.getBoundingClientRect();
      this.seek(plot.posToVal(event.clientX - box.left, 'x'));
    };
    plot.over.addEventListener('pointerdown', (event) => {
      plot.over.setPointerCapture(event.pointerId);
      go(event);
    });
    plot.over.addEventListener('pointermove', (event) => {
      if (plot.over.hasPointerCapture(event.pointerId)) go(event);
    });
  }

  /** Moves the line, and the legend's values with it: those of the last point at or before the time. */
  mark(time: number): void {
    this.time = time;
    if (this.plot !== null) {
      const x = this.plot.valToPos(time, 'x');
      const inside = Number.isFinite(x) && x >= 0 && x <= this.plot.over.clientWidth;
      this.cursor.hidden = !inside;
      this.cursor.style.transform = `translateX(${x}px)`;
    }
    const times = this.columns[0];
    let low = 0;
    let high = times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((times[middle] ?? Infinity) <= time) low = middle + 1;
      else high = middle;
    }
    this.values.forEach((place, i) => {
      const entry = place.parentElement;
      if (entry !== null) entry.hidden = this.columns[i + 1] === undefined;
      let index = Math.max(0, low - 1);
      const column = this.columns[i + 1];
      while (index > 0 && column?.[index] === undefined) index--;
      const value = column?.[index] ?? null;
      const text = short(value, 7);
      if (place.textContent !== text) {
        place.textContent = text;
        place.dataset['value'] = full(value);
      }
    });
  }
}

// A range with room, and for a constant one that does not blow rounding up to the size of the picture.
function padded(low: number, high: number): [number, number] {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [-1, 1];
  const size = Math.max(Math.abs(low), Math.abs(high));
  const room = Math.max(0.08 * (high - low), size > 0 ? 1e-9 * size : 1, Number.MIN_VALUE);
  return high - low < 1e-7 * size ? [low - 0.1 * size, high + 0.1 * size] : [low - room, high + room];
}

// More points than this are thinned before they are drawn; events keep both of their sides.
const MOST = 6000;

/** Energy, momentum, angular momentum, and forces with impulses, of a whole run. */
export class Plots {
  private energy: Chart;
  private momentum: Chart;
  private spin: Chart;
  private force: Chart;
  private gap: Chart;
  private shown = '';

  constructor(place: HTMLElement, seek: (time: number) => void) {
    this.energy = new Chart(
      'energy',
      'Energy',
      [
        { name: 'total', colour: 2 },
        { name: 'kinetic', colour: 0 },
        { name: 'potential', colour: 1, dash: [5, 3] },
      ],
      seek,
    );
    const xyz = (): Curve[] => ['x', 'y', 'z'].map((name, i) => ({ name, colour: [0, 1, 4][i] ?? 0 }));
    this.momentum = new Chart('momentum', 'Momentum', xyz(), seek);
    this.spin = new Chart('angular-momentum', 'Angular momentum', xyz(), seek);
    this.force = new Chart(
      'force',
      'Held force, and impulses',
      [
        { name: 'force', colour: 3, fill: true },
        { name: 'impulse', colour: 5, stems: true },
      ],
      seek,
    );
    this.gap = new Chart(
      'pair-gap',
      'Gap',
      [
        { name: 'gap', colour: 0 },
        { name: 'of the other run', colour: 1, dash: [5, 3] },
      ],
      seek,
    );
    this.gap.root.hidden = true;
    place.append(this.energy.root, this.gap.root, this.force.root, this.momentum.root, this.spin.root);
  }

  /** Draws what is new, if anything is. */
  update(timeline: Timeline, holds: readonly Hold[]): void {
    const state = `${timeline.version} ${holds.length}`;
    if (state === this.shown || !timeline.ready) return;
    this.shown = state;
    const frames = timeline.times.length;
    const stride = Math.ceil(frames / MOST);
    const kept: number[] = [];
    for (let i = 0; i < frames; i += stride) kept.push(i);
    if (kept[kept.length - 1] !== frames - 1) kept.push(frames - 1);
    const times = kept.map((i) => timeline.times.at(i));
    const total = (column: number): number[] => kept.map((i) => timeline.totals.at(8 * i + column));
    this.energy.set(energies(timeline, kept));
    this.momentum.set([times, total(2), total(3), total(4)]);
    this.spin.set([times, total(5), total(6), total(7)]);
    this.force.set(forces(timeline, holds));
  }

  /** Shows the gap of a pair; the time axis is the whole run's. */
  setGap(pair: readonly [string, string], columns: Columns, timeline: Timeline): void {
    this.gap.retitle(`Gap of ${pair[0]} and ${pair[1]}`);
    this.gap.root.hidden = columns[0].length === 0;
    this.gap.setRange(timeline.start, timeline.end);
    this.gap.set(columns);
  }

  reset(): void {
    this.shown = '';
    this.gap.root.hidden = true;
  }

  mark(time: number): void {
    for (const chart of [this.energy, this.gap, this.force, this.momentum, this.spin]) chart.mark(time);
  }
}

// The energies at the frames, and the total also just before and after each event: a loss is a step, not a slope.
function energies(timeline: Timeline, frames: number[]): Columns {
  const rows: [number, number | null, number | null | undefined, number | null | undefined][] = [];
  const events = timeline.events.length <= MOST ? timeline.events : [];
  let next = 0;
  const put = (event: RunEvent): void => {
    rows.push([event.time, event.energy_before, undefined, undefined]);
    rows.push([event.time, event.energy_after, undefined, undefined]);
  };
  for (const frame of frames) {
    const time = timeline.times.at(frame);
    while (next < events.length && events[next].time <= time) put(events[next++]);
    const kinetic = timeline.totals.at(8 * frame);
    const potential = timeline.totals.at(8 * frame + 1);
    rows.push([time, kinetic + potential, kinetic, potential]);
  }
  return [0, 1, 2, 3].map((column) => rows.map((row) => row[column] as number | null));
}

// Held forces, one line for each contact that lasts but all in one column, and impulses at their events. Between two
// holds the line is broken.
function forces(timeline: Timeline, holds: readonly Hold[]): Columns {
  const rows: [time: number, force: number | null | undefined, impulse: number | null][] = [];
  for (const hold of holds) {
    rows.push([hold.from, null, null]);
    hold.times.forEach((time, i) => rows.push([time, size(hold, hold.forces[i]), null]));
    rows.push([hold.until, null, null]);
  }
  const stride = Math.ceil(timeline.events.length / MOST);
  let blows = -1;
  timeline.events.forEach((event) => {
    if (event.kind !== 'impact' || ++blows % stride !== 0) return;
    rows.push([event.time, undefined, event.impulse]);
  });
  rows.push([timeline.start, undefined, null], [timeline.end, undefined, null]);
  rows.sort((a, b) => a[0] - b[0]);
  return [0, 1, 2].map((column) => rows.map((row) => row[column] as number | null));
}
