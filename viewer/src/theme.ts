// Light and dark: what the system prefers unless the switch says otherwise, which is remembered.

export type Theme = 'light' | 'dark';

/** Colours of the 3D scene and of the plots, beside those in the style sheet. */
export interface Palette {
  background: string;
  ink: string;
  muted: string;
  grid: string;
  plane: string;
  fixed: string;
  contact: string;
  normal: string;
  impulse: string;
  force: string;
  spin: string;
  series: string[];
  bodies: string[];
  sky: string;
  ground: string;
}

const LIGHT: Palette = {
  background: '#f3f5f8',
  ink: '#1b2330',
  muted: '#5b6675',
  grid: '#d9dfe7',
  plane: '#c3cede',
  fixed: '#9aa5b4',
  contact: '#c2185b',
  normal: '#35507a',
  impulse: '#d1401f',
  force: '#7a3fd0',
  spin: '#0d7f6f',
  series: ['#1f5fd0', '#c2521a', '#1b2330', '#7a3fd0', '#0d7f6f', '#b0185f'],
  bodies: ['#3b7de0', '#f0913a', '#35a67c', '#d9576b', '#8f6ce0', '#c9a227', '#3aa7c4', '#8a9a3c'],
  sky: '#ffffff',
  ground: '#b9c3d2',
};

const DARK: Palette = {
  background: '#0d1219',
  ink: '#e6ebf2',
  muted: '#9aa7b8',
  grid: '#26303d',
  plane: '#2b3a50',
  fixed: '#6a7686',
  contact: '#ff6fa5',
  normal: '#9dbcf0',
  impulse: '#ff8a5c',
  force: '#c09bff',
  spin: '#4fd6bf',
  series: ['#6aa5ff', '#ff9d5c', '#e6ebf2', '#c09bff', '#4fd6bf', '#ff7fb2'],
  bodies: ['#5b9bff', '#ffab5e', '#4fc79b', '#f47b8d', '#ab8cff', '#e3c04a', '#5cc6e2', '#adbf58'],
  sky: '#dfe9ff',
  ground: '#1c2634',
};

const KEY = 'carom-theme';
const listeners = new Set<() => void>();

function remembered(): Theme | null {
  try {
    const value = localStorage.getItem(KEY);
    return value === 'light' || value === 'dark' ? value : null;
  } catch {
    return null;
  }
}

let chosen: Theme | null = null;

const preference = (): MediaQueryList => window.matchMedia('(prefers-color-scheme: dark)');

export function theme(): Theme {
  return chosen ?? (preference().matches ? 'dark' : 'light');
}

export function palette(): Palette {
  return theme() === 'dark' ? DARK : LIGHT;
}

/** A theme from now on, or with `null` the system's; not remembered. */
export function choose(wanted: Theme | null): Theme {
  chosen = wanted;
  return theme();
}

/** The other theme from now on, here and the next time. */
export function toggle(): void {
  chosen = theme() === 'dark' ? 'light' : 'dark';
  try {
    localStorage.setItem(KEY, chosen);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
  apply();
}

export function onTheme(listener: () => void): void {
  listeners.add(listener);
}

function apply(): void {
  document.documentElement.dataset['theme'] = theme();
  for (const listener of listeners) listener();
}

/** Follows what was chosen before, or the system, from now on. */
export function watch(): void {
  chosen = remembered();
  preference().addEventListener('change', apply);
  apply();
}

export const reducedMotion = (): boolean => window.matchMedia('(prefers-reduced-motion: reduce)').matches;
