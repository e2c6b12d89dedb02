// The one clock of the page: stages, plots and tables all show its time.

/** Simulated seconds a second, offered to choose from. */
export const SPEEDS = [
  0.0001, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 1000,
] as const;

/** The speed at which a run of this length takes about twelve seconds, but real time where that is bearable. */
export function speedFor(duration: number): number {
  if (duration >= 3 && duration <= 30) return 1;
  const wanted = duration / 12;
  return SPEEDS.reduce((best, speed) =>
    Math.abs(Math.log(speed / wanted)) < Math.abs(Math.log(best / wanted)) ? speed : best,
  );
}

// How slow it gets at an event, and from how many seconds of the viewer's time on.
const SLOWEST = 0.05;
const NEAR = 0.25;

/** The factor on the speed at a distance (in simulated time) from the nearest event. */
export function slowing(distance: number, speed: number): number {
  const part = Math.min(1, distance / (NEAR * speed));
  return SLOWEST + (1 - SLOWEST) * part * part;
}

export class Clock {
  time = 0;
  end = 0;
  speed = 1;
  playing = false;
  slow = false;
  /** Whether the end is still moving: playing then waits there instead of stopping. */
  live = false;
  /** While set, playing stops there, and `speed` is what it was set to for this passage. */
  passage: { until: number; speed: number } | null = null;
  /** The distance to the nearest event, for the slow motion. */
  distance: (time: number) => number = () => Infinity;

  /** Advances by a number of seconds of the viewer's time; returns whether anything moved. */
  advance(seconds: number): boolean {
    if (!this.playing) return false;
    const speed = this.passage?.speed ?? this.speed;
    const factor = this.slow && this.passage === null ? slowing(this.distance(this.time), speed) : 1;
    const next = this.time + seconds * speed * factor;
    const limit = Math.min(this.end, this.passage?.until ?? Infinity);
    this.time = Math.min(next, limit);
    if (next >= limit && !(this.live && limit === this.end)) this.pause();
    return true;
  }

  play(): void {
    if (this.time >= this.end) this.time = 0;
    this.playing = true;
  }

  pause(): void {
    this.playing = false;
    this.passage = null;
  }

  /** Goes to a time, inside what is known. */
  seek(time: number): void {
    this.time = Math.min(this.end, Math.max(0, time));
    this.passage = null;
  }

  /** Plays from one time to another in a number of seconds. */
  pass(from: number, until: number, seconds: number): void {
    this.time = Math.max(0, from);
    this.passage = { until, speed: (until - from) / seconds };
    this.playing = true;
  }
}
