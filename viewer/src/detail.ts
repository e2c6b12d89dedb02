// One event: its numbers, its classification, the gap's curve through it, the laws compared.

import * as api from './api';
import { button, element } from './dom';
import { full, short, vector, words } from './format';
import { lawTable } from './laws';
import { Chart } from './plots';
import type { Classification, RunEvent } from './protocol';
import type { Timeline } from './timeline';

/** What a type means, in a sentence. */
const MEANING: Record<string, string> = {
  normal: 'The bodies close: an impulse.',
  separating: 'The bodies part; nothing acts.',
  graze: 'They touch and part without an impulse.',
  unrealizable: 'Free flight would overlap before and after: no first contact.',
  paradox_2b_star:
    'Nothing closes, so no impulse can act, and yet free flight would overlap. A finite force without work holds the contact.',
  paradox_2b:
    'The paradox with slip: nothing closes, free flight would overlap, a finite force holds the contact.',
  paradox_marginal: 'The paradox with the contact point moving over both bodies.',
  degenerate: 'No derivative up to the third decides the type.',
};

const OUTCOME: Record<string, string> = {
  impact: 'The law gave an impulse.',
  graze: 'No impulse: both fly on.',
  hold_begin: 'From here on a force holds the contact.',
  hold_end:
    'The force has returned to zero: lift-off. The impulse is the integral of the force over the whole contact.',
  rest: 'The bounces have ended: the contact stays.',
  pass_begin: 'The bodies pass through each other, as the impulsive law has it: from here on they overlap.',
  pass_end: 'The overlap has ended.',
  stop: 'The run was asked to stop here.',
};

export interface DetailContext {
  run: string;
  timeline: Timeline;
  seek: (time: number) => void;
  slowMotion: (from: number, until: number) => void;
}

/** The span of time around an event that its curve shows: to the neighbouring events, but a small part of the run at most. */
export function spanOf(timeline: Timeline, event: RunEvent): number {
  const whole = Math.max(timeline.end, timeline.header.until) - timeline.start;
  const most = whole > 0 ? whole / 20 : 0.1;
  const times = timeline.eventTimes;
  const after = timeline.eventAfter(event.time);
  const before = timeline.eventBefore(event.time);
  let span = most;
  if (after < times.length) span = Math.min(span, times.at(after) - event.time);
  if (before >= 0) span = Math.min(span, event.time - times.at(before));
  return Math.max(span, 1e-6 * most);
}

export class Detail {
  private chart: Chart | null = null;
  private event: RunEvent | null = null;
  private request = 0;

  constructor(private readonly place: HTMLElement) {}

  clear(): void {
    this.event = null;
    this.chart = null;
    this.request++;
    this.place.replaceChildren(
      element(
        'p',
        { class: 'hint' },
        'Choose an event: its numbers, the gap through it, and every law on it appear here.',
      ),
    );
  }

  mark(time: number): void {
    this.chart?.mark(time);
  }

  get shown(): RunEvent | null {
    return this.event;
  }

  show(event: RunEvent, context: DetailContext): void {
    if (event === this.event) return;
    this.event = event;
    const request = ++this.request;
    const span = spanOf(context.timeline, event);
    this.chart = new Chart(
      'gap',
      'Gap',
      [
        { name: 'gap', colour: 0 },
        { name: 'free flight', colour: 1, dash: [5, 3] },
      ],
      context.seek,
      150,
    );
    const curve = element('div', { class: 'gap-curve' }, this.chart.root);
    const tools = element(
      'div',
      { class: 'tools' },
      button('Slow motion', () => context.slowMotion(event.time - span, event.time + span), {
        class: 'primary',
      }),
      button('Wider', () => this.loadGap(event, context, this.lastSpan * 3)),
      button('Closer', () => this.loadGap(event, context, this.lastSpan / 3)),
    );
    const classification = element('div', { class: 'classification' });
    const laws = element('div', { class: 'comparison' });
    this.place.replaceChildren(
      element(
        'header',
        {},
        element('h2', {}, `Event ${event.number}: ${words(event.kind)}`),
        element('p', { class: 'pair' }, event.bodies.join(' and ')),
        element('p', {}, `${MEANING[event.type] ?? ''} ${OUTCOME[event.kind] ?? ''}`.trim()),
      ),
      tools,
      curve,
      facts(event),
      classification,
      laws,
    );
    this.place.scrollTop = 0;
    void this.loadGap(event, context, span);
    void this.loadClassification(event, context, classification, request);
    void this.loadLaws(event, context, laws, request);
  }

  private lastSpan = 0;

  private async loadGap(event: RunEvent, context: DetailContext, span: number): Promise<void> {
    this.lastSpan = span;
    const chart = this.chart;
    if (chart === null) return;
    try {
      const curve = await api.gap(context.run, event.number, span, 241);
      if (chart !== this.chart) return;
      chart.set([curve.times, curve.gap, curve.free]);
      chart.mark(event.time);
    } catch (error) {
      if (chart !== this.chart) return;
      chart.root.replaceChildren(quiet(error));
      this.chart = null;
    }
  }

  private async loadClassification(
    event: RunEvent,
    context: DetailContext,
    place: HTMLElement,
    request: number,
  ): Promise<void> {
    try {
      const found = await api.classify(context.run, event.number);
      if (request === this.request) place.replaceChildren(classified(found));
    } catch (error) {
      if (request === this.request) place.replaceChildren(quiet(error));
    }
  }

  private async loadLaws(
    event: RunEvent,
    context: DetailContext,
    place: HTMLElement,
    request: number,
  ): Promise<void> {
    try {
      const comparison = await api.compare(context.run, event.number);
      if (request === this.request)
        place.replaceChildren(element('h2', {}, 'Laws compared'), lawTable(comparison));
    } catch (error) {
      if (request === this.request) place.replaceChildren(element('h2', {}, 'Laws compared'), quiet(error));
    }
  }
}

function quiet(error: unknown): HTMLElement {
  return element('p', { class: 'hint' }, error instanceof Error ? error.message : String(error));
}

type Fact = [name: string, text: string, value?: number | null | undefined, key?: string];

function factList(facts: Fact[]): HTMLElement {
  const list = element('dl', { class: 'facts' });
  for (const [name, text, value, key] of facts) {
    list.append(
      element('dt', {}, name),
      element(
        'dd',
        {
          'data-fact': key ?? name,
          'data-value': value === undefined ? undefined : full(value),
          title: full(value),
        },
        text,
      ),
    );
  }
  return list;
}

function facts(event: RunEvent): HTMLElement {
  const number = (name: string, value: number | null, key: string, digits = 10): Fact => [
    name,
    short(value, digits),
    value,
    key,
  ];
  const change = event.energy_after - event.energy_before;
  const list: Fact[] = [
    ['time', full(event.time), event.time, 'time'],
    number('its error, at most', event.time_error, 'time_error', 3),
    ['type', words(event.type), undefined, 'type'],
    number('approach', event.approach, 'approach'),
    number('separation', event.separation, 'separation'),
    number('impulse', event.impulse, 'impulse'),
    number('energy before', event.energy_before, 'energy_before', 12),
    number('energy after', event.energy_after, 'energy_after', 12),
    number('energy change', change, 'energy_change', 6),
    number('gap', event.gap, 'gap', 4),
    ['point', vector(event.point), undefined, 'point'],
    ['normal', vector(event.normal), undefined, 'normal'],
    ['impulse vector', vector(event.impulse_vector), undefined, 'impulse_vector'],
  ];
  if (event.g2 !== null && event.g2 !== undefined) list.push(number("g''", event.g2, 'g2'));
  if (event.g3 !== null && event.g3 !== undefined) list.push(number("g'''", event.g3, 'g3'));
  if (event.force_slope !== null && event.force_slope !== undefined) {
    list.push(number('slope of the force', event.force_slope, 'force_slope'));
  }
  return factList(list);
}

/** The numbers that `classify` decides by, with the neighbourhood picture. */
function classified({ contact, svg }: Classification): HTMLElement {
  const number = (value: unknown): number | null => (typeof value === 'number' ? value : null);
  const numbers = (value: unknown): string =>
    Array.isArray(value) && value.every((v) => typeof v === 'number') ? vector(value) : '–';
  const row = (name: string, key: string): Fact => [
    name,
    short(number(contact[key]), 8),
    number(contact[key]),
    `classify-${key}`,
  ];
  const list: Fact[] = [
    row("v = g'", 'v'),
    row('a', 'a'),
    row('threshold wᵀK⁻¹w', 'threshold'),
    row("g''", 'g2'),
    row("g'''", 'g3'),
    ['w', numbers(contact['w'])],
    ['slip', numbers(contact['slip'])],
    row('n·M·n', 'effective_inverse_mass'),
    ['curvature, relative', numbers(contact['relative_curvature'])],
  ];
  const nearest = contact['nearest_type'] as
    { type?: string; by?: string; factor?: number } | null | undefined;
  if (nearest?.type !== undefined) {
    list.push([
      'nearest other type',
      `${words(nearest.type)}, by ${nearest.by ?? ''} (${short(nearest.factor, 3)} tolerances away)`,
    ]);
  }
  const root = element('section', {}, element('h2', {}, 'Classification'), factList(list));
  if (svg !== null && svg !== undefined && svg !== '') {
    // As a picture, never as markup: what stands in it cannot run.
    const address = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
    const picture = element('img', {
      src: address,
      class: 'neighbourhood',
      alt: 'Where near the contact the second body would enter the first, before and after',
    });
    picture.addEventListener('load', () => URL.revokeObjectURL(address));
    root.append(
      element(
        'figure',
        {},
        picture,
        element('figcaption', {}, 'The neighbourhood of the contact in free flight'),
      ),
    );
  }
  return root;
}
