// Keyboard shortcuts, which work everywhere except in text fields.

export interface Actions {
  toggle: () => void;
  step: (intervals: number) => void;
  event: (direction: -1 | 1) => void;
  start: () => void;
  end: () => void;
  fit: () => void;
  help: () => void;
}

function typing(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest(
      'input:not([type=range]):not([type=checkbox]), select, textarea, [contenteditable=true]',
    ) !== null
  );
}

export function bindKeys(actions: Actions): void {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || typing(event.target))
      return;
    if (document.querySelector('dialog[open]') !== null) return;
    const target = event.target as HTMLElement;
    // Space on a button presses it; arrows in a list of tabs belong to the list.
    if (event.key === ' ' && target.closest('button, summary, input[type=checkbox]') !== null) return;
    if (target.closest('[role=tablist]') !== null && event.key.startsWith('Arrow')) return;
    const many = event.shiftKey ? 10 : 1;
    const action = {
      ' ': () => actions.toggle(),
      ArrowLeft: () => actions.step(-many),
      ArrowRight: () => actions.step(many),
      ',': () => actions.event(-1),
      '.': () => actions.event(1),
      Home: () => actions.start(),
      End: () => actions.end(),
      f: () => actions.fit(),
      '?': () => actions.help(),
    }[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  });
}
