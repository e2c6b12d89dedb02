// `carom.view(run)` in Python: the player in the cell of a notebook, by anywidget's protocol, or in a page by itself.
//
// A page holds elements with `data-carom-run`, in each a script with the stream in base 64. The theme is the notebook's.

import { element } from '../dom';
import { choose, type Theme } from '../theme';
import { Player } from './player';
import style from './style.css?inline';

/** What anywidget hands over, as far as it is used. */
interface Model {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(event: string, callback: () => void): void;
  off(event: string, callback: () => void): void;
}

/** The theme of the notebook around, if it says; the system's otherwise. */
function themeAround(): Theme | null {
  const { body } = document;
  const jupyter = body.dataset['jpThemeLight'];
  if (jupyter !== undefined) return jupyter === 'true' ? 'light' : 'dark';
  if (body.classList.contains('vscode-dark') || body.classList.contains('vscode-high-contrast'))
    return 'dark';
  if (body.classList.contains('vscode-light')) return 'light';
  return null;
}

function mount(
  place: HTMLElement,
  bytes: Uint8Array,
  height: number,
): { player: Player | null; leave: () => void } {
  const shadow = place.attachShadow({ mode: 'open' });
  const inside = element('div');
  shadow.append(element('style', {}, style), inside);
  const around = (): void => {
    place.dataset['theme'] = choose(themeAround());
  };
  around();
  let player: Player;
  try {
    player = new Player(inside, bytes, height);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    inside.replaceChildren(element('div', { class: 'player failed', role: 'alert' }, said));
    return { player: null, leave: () => undefined };
  }
  const repaint = (): void => {
    around();
    player.paint();
  };
  const watching = new MutationObserver(repaint);
  watching.observe(document.body, { attributeFilter: ['data-jp-theme-light', 'class'] });
  const system = window.matchMedia('(prefers-color-scheme: dark)');
  system.addEventListener('change', repaint);
  return {
    player,
    leave: () => {
      watching.disconnect();
      system.removeEventListener('change', repaint);
      player.dispose();
    },
  };
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const place = element('div', { class: 'carom-run' });
  el.append(place);
  const view = model.get('_stream') as DataView;
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  const { player, leave } = mount(place, bytes, Number(model.get('height')));
  if (player === null) return leave;
  const told = (): void => {
    const time = Number(model.get('time'));
    if (time !== player.clock.time) player.seek(time);
  };
  const asked = Number(model.get('time'));
  if (asked > 0) player.seek(asked);
  player.onTime = (time) => {
    if (model.get('time') === time) return;
    model.set('time', time);
    model.save_changes();
  };
  model.on('change:time', told);
  return () => {
    model.off('change:time', told);
    leave();
  };
}

for (const place of document.querySelectorAll<HTMLElement>('[data-carom-run]')) {
  const text = atob(place.querySelector('script')?.textContent?.trim() ?? '');
  mount(
    place,
    Uint8Array.from(text, (letter) => letter.charCodeAt(0)),
    Number(place.dataset['height']),
  );
}

export default { render };
