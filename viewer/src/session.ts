// A run as it comes in: its stream read to the end, whatever it brings put on the timeline.

import * as api from './api';
import { Timeline } from './timeline';

export class Session {
  timeline: Timeline | null = null;
  done = false;
  error: string | null = null;
  private ending = new AbortController();
  /** The first frame is there. */
  onReady: (timeline: Timeline) => void = () => undefined;
  /** Something was added. */
  onChange: () => void = () => undefined;
  /** The stream has ended, well or not. */
  onEnd: () => void = () => undefined;

  constructor(readonly id: string) {}

  async read(): Promise<void> {
    let told = false;
    try {
      for await (const messages of api.stream(this.id, this.ending.signal)) {
        for (const message of messages) {
          if (message.kind === 'header') this.timeline = new Timeline(message.header);
          else this.timeline?.add(message);
        }
        if (!told && this.timeline?.ready === true) {
          told = true;
          this.onReady(this.timeline);
        }
        this.onChange();
      }
      // Left, and whoever reads on is no longer interested.
      if (this.ending.signal.aborted) return;
      this.error = this.timeline?.ending?.error ?? null;
    } catch (error) {
      if (this.ending.signal.aborted) return;
      this.error = error instanceof Error ? error.message : String(error);
    }
    this.done = true;
    this.onEnd();
  }

  /** Whether the program is still at work on it. */
  get running(): boolean {
    return !this.done && this.timeline?.ending == null;
  }

  stop(): Promise<void> {
    return api.stop(this.id);
  }

  /** Stops reading; the run itself goes on. */
  leave(): void {
    this.ending.abort();
  }
}
