// Numbers over the picture: the body that was picked, and what a frame costs.

import { element, part } from './dom';
import { count, full, short, vector } from './format';
import type { Cost } from './stage';
import type { Timeline } from './timeline';

/** The state of a picked body at a time; −1 picks none. */
export function showPicked(timeline: Timeline | null, body: number, time: number): void {
  const place = part('picked');
  place.hidden = body < 0 || timeline === null;
  if (body < 0 || timeline === null) return;
  const { pose, velocity } = timeline.state(body, time);
  const { name, mass, fixed } = timeline.header.bodies[body];
  const rows: [string, string][] = [
    ['body', name],
    ['mass', fixed ? 'fixed' : short(mass)],
    ['position', vector([...pose.subarray(0, 3)])],
    ['velocity', vector([...velocity])],
    ['angular velocity', vector(timeline.spin(body, time))],
  ];
  place.replaceChildren(
    ...rows.flatMap(([term, text]) => [element('dt', {}, term), element('dd', {}, text)]),
  );
}

export function showCost({ scriptMs, submitMs, drawCalls, triangles }: Cost): void {
  const place = part('cost');
  const times = `${short(scriptMs, 2)} ms + ${short(submitMs, 2)} ms a frame`;
  place.textContent = `${times}, ${drawCalls} draw calls, ${count(triangles)} triangles`;
  place.dataset['scriptMs'] = full(scriptMs);
  place.dataset['submitMs'] = full(submitMs);
  place.dataset['drawCalls'] = full(drawCalls);
  place.dataset['triangles'] = full(triangles);
}
