// What the address says is open: `#scene/ID` of the gallery, `#run/ID` of the program, or `#text/DATA`, a scene in the address itself,
// compressed. After that, by `&`, how it is seen: `t=0.5`, a time; `tab=events`; `plots=energy,gap`, only these.

export interface Place {
  kind: string;
  id: string;
  view: View;
}

/** How a run is seen. */
export interface View {
  time?: number;
  tab?: string;
  plots?: string[];
}

export function parsePlace(hash: string): Place {
  const [first = '', ...rest] = hash.replace(/^#/, '').split('&');
  const cut = first.indexOf('/');
  const [kind, id] = cut < 0 ? [first, ''] : [first.slice(0, cut), first.slice(cut + 1)];
  const view: View = {};
  for (const part of rest) {
    const [key = '', value = ''] = part.split('=');
    const time = Number(value);
    if (key === 't' && value !== '' && Number.isFinite(time)) view.time = time;
    if (key === 'tab') view.tab = value;
    if (key === 'plots') view.plots = value.split(',').filter((name) => name !== '');
  }
  return { kind, id: decoded(id), view };
}

// An address that someone has cut off is no reason to fail.
function decoded(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

async function through(bytes: Uint8Array<ArrayBuffer>, change: GenericTransformStream): Promise<Uint8Array> {
  const stream = new Blob([bytes])
    .stream()
    .pipeThrough(change as ReadableWritablePair<Uint8Array, BufferSource>);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** A text as letters that an address can hold: deflate, then base64 with - and _. */
export async function packed(text: string): Promise<string> {
  const bytes = await through(new TextEncoder().encode(text), new CompressionStream('deflate-raw'));
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  return btoa(letters).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}

/** The text again; an error in words if it is not one. */
export async function unpacked(data: string): Promise<string> {
  try {
    const letters = atob(data.replace(/-/g, '+').replace(/_/g, '/'));
    const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true }).decode(
      await through(bytes, new DecompressionStream('deflate-raw')),
    );
  } catch {
    throw new Error('The link is damaged: the scene in it cannot be read. Was it copied whole?');
  }
}

/** The part of an address after the place. */
export function viewOf({ time, tab, plots }: View): string {
  const parts: string[] = [];
  if (time !== undefined) parts.push(`t=${time}`);
  if (tab !== undefined) parts.push(`tab=${tab}`);
  if (plots !== undefined) parts.push(`plots=${plots.join(',')}`);
  return parts.map((part) => `&${part}`).join('');
}
