// Curves over time, linked to the clock: a line marks the time shown, and a click or a drag moves it.

import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { element } from './dom';
import { type Hold, size } from './forces';
import { Gas } from './gas';
import { full, short } from './format';
import { conserved, ROUNDING, type Rows, scales, totals } from './totals';
import { onTheme, palette } from './theme';
import type { Timeline } from './timeline';

/** One curve of a chart: its name and which of the theme's colours it has. */
export interface Curve {
  name: string;
  colour: number;
  dash?: number[];
  /** How wide its line is: of curves that lie on one another, the first is the widest. */
  width?: number;
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
  /** Values up to this are rounding. */
  noise = 0;
  private heading = element('h2');
  private note = element('p', { class: 'hint conserved', hidden: true });
  /** Whether the picture includes zero: what stands on it, as stems do, must be seen to. */
  private readonly rooted: boolean;

  constructor(
    readonly name: string,
    title: string,
    private readonly curves: Curve[],
    private readonly seek: (time: number) => void,
    private readonly height = 152,
    /** What the axis below says; where it is not time, the picture has no clock. */
    private readonly below = 'time (s)',
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
    this.root = element(
      'section',
      { class: 'chart', 'data-chart': name },
      this.heading,
      this.note,
      legend,
      this.place,
    );
    this.retitle(title);
    this.rooted = curves.some((curve) => curve.stems === true);
    new ResizeObserver(() => this.resize()).observe(this.place);
    onTheme(() => this.rebuild());
  }

  retitle(title: string): void {
    this.heading.textContent = title;
    this.place.setAttribute('aria-label', `${title} over ${this.below}`);
  }

  /** A sentence in place of the picture, or beside it; none if it is empty. */
  say(text: string, instead: boolean): void {
    this.note.textContent = text;
    this.note.hidden = text === '';
    this.place.hidden = instead;
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

  private get timed(): boolean {
    return this.below.startsWith('time');
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
        {
          ...axis,
          size: 24,
          label: this.below,
          labelSize: 14,
          labelGap: 0,
          labelFont: axis.font as string,
          values: (_, ticks) => ticks.map((tick) => short(tick, 5)),
        },
        { ...axis, size: widest, values: (_, ticks) => ticks.map((tick) => short(tick, 5)) },
      ],
      series: [
        {},
        ...this.curves.map((curve) => this.series(curve, colours.series[curve.colour] ?? colours.ink)),
      ],
    };
    this.plot = new uPlot(options, this.whole(), this.place);
    if (this.timed) {
      this.plot.over.append(this.cursor);
      this.listen(this.plot);
    }
    this.mark(this.time);
  }

  private series(curve: Curve, stroke: string): uPlot.Series {
    const series: uPlot.Series = {
      label: curve.name,
      stroke,
      width: curve.width ?? 1.6,
      spanGaps: false,
      // Between pixels: a slope has no steps.
      pxAlign: 0,
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
    if (!this.timed) return;
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
      // What is nothing but rounding is zero to a reader.
      const text = value !== null && Math.abs(value) <= this.noise ? '0' : short(value, 7);
      if (place.textContent !== text) {
        place.textContent = text;
        place.dataset['value'] = full(value);
      }
    });
  }
}

// Labels are as wide as their numbers are: an exponent is the last thing to be cut off.
function widest(plot: uPlot, values: string[] | null): number {
  plot.ctx.font = '11px system-ui, sans-serif';
  const widths = (values ?? []).map((text) => plot.ctx.measureText(text ?? '').width);
  return Math.max(44, Math.ceil(Math.max(0, ...widths)) + 14);
}

// A range with room, and for a constant one that does not blow rounding up to the size of the picture.
function padded(low: number, high: number): [number, number] {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [-1, 1];
  const size = Math.max(Math.abs(low), Math.abs(high));
  // Nothing but zeros, or as good as.
  if (size < 1e-290) return [-1, 1];
  const room = Math.max(0.08 * (high - low), 1e-9 * size);
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
  private all: Chart[];
  private gas: Gas;
  private shown = '';
  /** The charts that were asked for; null if all. */
  chosen: string[] | null = null;

  constructor(place: HTMLElement, seek: (time: number) => void) {
    this.energy = new Chart(
      'energy',
      'Energy (J)',
      [
        { name: 'total', colour: 2, width: 3.4 },
        { name: 'kinetic', colour: 0, width: 1.4 },
        { name: 'potential', colour: 1, dash: [5, 3] },
      ],
      seek,
    );
    // Dashes, and lines of different width: components that are equal are seen through one another.
    const xyz = (): Curve[] => [
      { name: 'x', colour: 0, width: 3.2 },
      { name: 'y', colour: 1, dash: [7, 5], width: 2 },
      { name: 'z', colour: 4, dash: [2, 4], width: 2 },
    ];
    this.momentum = new Chart('momentum', 'Momentum (kg m/s)', xyz(), seek);
    this.spin = new Chart('angular-momentum', 'Angular momentum about the origin (kg m²/s)', xyz(), seek);
    this.force = new Chart(
      'force',
      'Held force (N), impulses (N s)',
      [
        { name: 'force', colour: 3, fill: true },
        { name: 'impulse', colour: 5, stems: true },
      ],
      seek,
    );
    this.gap = new Chart(
      'pair-gap',
      'Gap (m)',
      [
        { name: 'gap', colour: 0 },
        { name: 'of the other run', colour: 1, dash: [5, 3] },
      ],
      seek,
    );
    this.gas = new Gas();
    this.all = [this.energy, this.gap, this.force, this.momentum, this.spin, ...this.gas.charts];
    place.append(this.gas.facts, ...this.all.map((chart) => chart.root));
    this.reset();
  }

  /** Draws what is new, if anything is. */
  update(timeline: Timeline, holds: readonly Hold[]): void {
    const state = `${timeline.version} ${holds.length}`;
    if (state === this.shown || !timeline.ready) return;
    this.shown = state;
    const rows = totals(timeline);
    const columns = (...from: number[]): Columns =>
      [0, ...from].map((column) => rows.map((row) => row[column]));
    const { energy, momentum, spin } = scales(timeline, rows);
    this.energy.noise = ROUNDING * energy;
    this.momentum.noise = ROUNDING * momentum;
    this.spin.noise = ROUNDING * spin;
    this.energy.set(columns(1, 2, 3));
    this.tell(
      this.energy,
      conserved(rows, [1], energy),
      isStill(rows, [2, 3], energy),
      'The total energy is',
    );
    this.momentum.set(columns(4, 5, 6));
    const kept = conserved(rows, [4, 5, 6], momentum);
    this.tell(this.momentum, kept, kept !== null, 'Momentum is');
    // About which point, in a box without a place of its own?
    this.spin.root.dataset['none'] = String(timeline.header.periodic !== null);
    this.spin.set(columns(7, 8, 9));
    const turning = conserved(rows, [7, 8, 9], spin);
    this.tell(this.spin, turning, turning !== null, 'Angular momentum about the origin is');
    this.force.root.dataset['none'] = String(
      holds.length === 0 && !timeline.events.some((event) => event.kind === 'impact'),
    );
    this.force.set(forces(timeline, holds));
    this.gas.show(timeline.ending?.observables ?? null);
    this.hide();
  }

  // What does not change needs no picture: nothing but rounding would be seen in it.
  private tell(chart: Chart, to: number | null, instead: boolean, what: string): void {
    const how = to === null ? '' : to === 0 ? 'conserved exactly.' : `conserved to ${short(to, 1)}.`;
    chart.say(how === '' ? '' : `${what} ${how}`, instead && to !== null);
  }

  /** Shows only the charts of these names; null: all that there are. */
  only(names: string[] | null): void {
    this.chosen = names;
    this.hide();
  }

  private hide(): void {
    for (const chart of this.all) {
      const chosen = this.chosen === null || this.chosen.includes(chart.name);
      chart.root.hidden = !chosen || chart.root.dataset['none'] === 'true';
    }
  }

  /** Shows the gap of a pair; the time axis is the whole run's. */
  setGap(pair: readonly [string, string], columns: Columns, timeline: Timeline): void {
    this.gap.retitle(`Gap of ${pair[0]} and ${pair[1]} (m)`);
    this.gap.root.dataset['none'] = String(columns[0].length === 0);
    this.hide();
    this.gap.setRange(timeline.start, timeline.end);
    this.gap.set(columns);
  }

  reset(): void {
    this.shown = '';
    this.gap.root.dataset['none'] = 'true';
    this.gas.show(null);
    this.hide();
  }

  mark(time: number): void {
    for (const chart of this.all) chart.mark(time);
  }
}

// Whether nothing in the columns changes by more than rounding, or is there at all.
function isStill(rows: Rows, columns: number[], scale: number): boolean {
  return conserved(rows, columns, scale) !== null;
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
