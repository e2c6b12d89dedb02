// What a gas is measured by: its equation of state and temperatures with their errors, g(r), and how its bodies diffuse.

import { element } from './dom';
import { full, short, words } from './format';
import { Chart } from './plots';
import type { Estimate, Observables } from './protocol';

/** The estimates that are shown, in this order, with the symbols and units of the book. */
const ESTIMATES: readonly [name: string, label: string][] = [
  ['compressibility', 'Z = PV/NkT'],
  ['pressure', 'pressure (Pa)'],
  ['packing_fraction', 'packing fraction'],
  ['collision_rate', 'collisions of a body (1/s)'],
  ['mean_free_path', 'mean free path (m)'],
  ['temperature_translational', 'kT, translations (J)'],
  ['temperature_rotational', 'kT, spins (J)'],
];

function isEstimate(value: unknown): value is Estimate & { mean: number } {
  return typeof value === 'object' && value !== null && typeof (value as Estimate).mean === 'number';
}

export class Gas {
  readonly facts = element('section', { class: 'chart', 'data-chart': 'gas', hidden: true });
  private rdf = new Chart(
    'g-r',
    'Radial distribution g(r)',
    [{ name: 'g', colour: 0 }],
    ignore,
    152,
    'r (m)',
  );
  private msd = new Chart(
    'msd',
    'Mean square displacement (m²)',
    [{ name: 'msd', colour: 1 }],
    ignore,
    152,
    'lag (s)',
  );
  private vacf = new Chart(
    'vacf',
    'Velocity autocorrelation (m²/s²)',
    [{ name: 'vacf', colour: 4 }],
    ignore,
    152,
    'lag (s)',
  );
  readonly charts = [this.rdf, this.msd, this.vacf];

  /** Shows the averages, or nothing where there are none. */
  show(found: Observables | null): void {
    const list = element('dl', { class: 'facts' });
    for (const [name, label] of ESTIMATES) {
      const estimate = found?.[name];
      if (!isEstimate(estimate)) continue;
      const error =
        (estimate.error ?? 0) <= 1e-9 * Math.abs(estimate.mean) ? '' : ` ± ${short(estimate.error, 1)}`;
      const attributes = { 'data-fact': words(name), 'data-value': full(estimate.mean) };
      list.append(element('dt', {}, label), element('dd', attributes, `${short(estimate.mean, 4)}${error}`));
    }
    this.facts.hidden = list.childElementCount === 0;
    this.facts.replaceChildren(element('h2', {}, 'The gas'), list);
    this.draw(this.rdf, found?.g_r?.r, found?.g_r?.g);
    this.draw(this.msd, found?.msd.time, found?.msd.value);
    this.draw(this.vacf, found?.vacf.time, found?.vacf.value);
  }

  private draw(chart: Chart, at: number[] | undefined, values: number[] | undefined): void {
    const many = Math.min(at?.length ?? 0, values?.length ?? 0);
    chart.root.dataset['none'] = String(many < 2);
    chart.set([at ?? [], values ?? []]);
  }
}

function ignore(): void {
  // There is no time to go to.
}
