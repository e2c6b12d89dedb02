// Elements are built from plain data. Text only ever becomes text nodes: a scene's names and titles cannot become markup.

export type Child = Node | string | null | undefined;
export type Attributes = Record<string, string | number | boolean | undefined>;

/** An element with attributes and children; `false` and `undefined` leave an attribute out. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    made.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children) if (child !== null && child !== undefined) made.append(child);
  return made;
}

/** The element of the page's shell with this id. */
export function part<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no element ${id}`);
  return found as T;
}

/** A button that does something. */
export function button(label: string, action: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, label);
  made.addEventListener('click', action);
  return made;
}

/** Puts a short sentence where screen readers and eyes find it; empty clears it. */
export function announce(text: string, tone: 'plain' | 'error' = 'plain'): void {
  const place = part('announcement');
  place.textContent = text;
  place.dataset['tone'] = tone;
  place.hidden = text === '';
}
