// The gap of a pair over the whole run, put together from the program's curves around the pair's events.
//
// A curve is the pair's own motion from the last event of either body to the next one; beyond, something else has
// happened to one of them. Stretches that no event of the pair borders are left open.

import * as api from './api';
import type { Columns } from './plots';
import type { Header, RunEvent } from './protocol';
import type { Timeline } from './timeline';

/** Around which event to ask, how far, and which part of the answer counts. */
export interface Stretch {
  event: number;
  span: number;
  from: number;
  until: number;
}

/** At most this many events of a pair are asked for, the first ones. */
const MOST = 24;
const POINTS = 161;

/** The names of a pair that move: planes and fixed bodies are struck by others too, and stay as they are. */
function movers(header: Header, pair: readonly string[]): string[] {
  return pair.filter((name) => header.bodies.some((body) => body.name === name && !body.fixed));
}

/** The stretches of a pair's gap, given which of the pair move. */
export function stretches(
  events: readonly RunEvent[],
  pair: readonly [string, string],
  moving: readonly string[],
  start: number,
  end: number,
): Stretch[] {
  const times = [
    ...new Set(
      events.filter(({ bodies }) => bodies.some((name) => moving.includes(name))).map(({ time }) => time),
    ),
  ];
  const place = new Map(times.map((time, i) => [time, i]));
  const found: Stretch[] = [];
  const seen = new Set<number>();
  for (const { number, time, bodies } of events) {
    if (bodies[0] !== pair[0] || bodies[1] !== pair[1] || seen.has(number)) continue;
    seen.add(number);
    const at = place.get(time) ?? 0;
    const from = times[at - 1] ?? start;
    const until = times[at + 1] ?? end;
    const span = Math.max(time - from, until - time);
    if (span > 0) found.push({ event: number, span, from, until });
    if (found.length === MOST) break;
  }
  return found;
}

/** The gap of a pair over time, as columns of a chart. */
export async function gapOver(
  run: string,
  timeline: Timeline,
  pair: readonly [string, string],
): Promise<Columns> {
  const { header, events, start, end } = timeline;
  const parts = stretches(events, pair, movers(header, pair), start, end);
  const rows: [time: number, gap: number | null][] = [];
  for (const { event, span, from, until } of parts) {
    const curve = await api.gap(run, event, span, POINTS);
    const last = rows[rows.length - 1];
    if (last !== undefined && from > last[0]) rows.push([0.5 * (last[0] + from), null]);
    curve.times.forEach((time, i) => {
      if (time >= from && time <= until && time > (rows[rows.length - 1]?.[0] ?? -Infinity))
        rows.push([time, curve.gap[i]]);
    });
  }
  return [rows.map(([time]) => time), rows.map(([, gap]) => gap)];
}

/** Two sets of columns on one axis of times; where only one has a point, the other's line goes on. */
export function joined(one: Columns, two: Columns): Columns {
  const rows = new Map<number, (number | null | undefined)[]>();
  const row = (time: number): (number | null | undefined)[] => {
    let found = rows.get(time);
    if (found === undefined) rows.set(time, (found = [undefined, undefined]));
    return found;
  };
  Array.from(one[0]).forEach((time, i) => (row(time as number)[0] = one[1][i]));
  Array.from(two[0]).forEach((time, i) => (row(time as number)[1] = two[1][i]));
  const times = [...rows.keys()].sort((a, b) => a - b);
  return [times, ...[0, 1].map((column) => times.map((time) => rows.get(time)?.[column] as number | null))];
}
