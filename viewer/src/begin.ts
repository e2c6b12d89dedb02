// Ways to begin besides the gallery's cards: a file that is opened or dropped, or one of the program's templates.

import { packed } from './address';
import { announce, element, part } from './dom';

/** The templates of `carom new` that are scenes, by name. */
const TEMPLATES = import.meta.glob<string>('../../crates/carom-cli/templates/*.toml', {
  query: '?raw',
  import: 'default',
  eager: true,
});

/** Matrices instead of bodies: nothing to look at. */
const NO_SCENE = 'matrices';

/** The largest text that an address holds in every browser, as far as is known. */
const LONGEST_IN_ADDRESS = 60_000;

/** The largest file that is read; the program takes no more. */
const LARGEST_FILE = 8 << 20;

interface Template {
  name: string;
  about: string;
  text: string;
}

/** The templates, with what their first lines say of them. */
export function templates(files: Record<string, string> = TEMPLATES): Template[] {
  return Object.entries(files)
    .map(([path, text]) => ({
      name: path.replace(/^.*\//, '').replace(/\.toml$/, ''),
      about: (text.split('\n', 1)[0] ?? '').replace(/^#\s*/, '').replace(/\.$/, ''),
      text,
    }))
    .filter(({ name }) => name !== NO_SCENE);
}

/** Binds the controls; `open` shows a text that is too long for the address. */
export function bindBeginnings(open: (text: string, name: string) => Promise<void>): void {
  const complain = (error: unknown): void =>
    announce(error instanceof Error ? error.message : String(error), 'error');

  // By the address where that can be: it can be reloaded then, and the way back leads here.
  const show = async (text: string, name: string): Promise<void> => {
    const data = await packed(text);
    if (data.length <= LONGEST_IN_ADDRESS) location.hash = `#text/${data}`;
    else await open(text, name);
  };

  const read = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    if (file.size > LARGEST_FILE) throw new Error(`${file.name} is too large: a scene has at most 8 MB.`);
    await show(await file.text(), file.name);
  };

  const chooser = part<HTMLInputElement>('file');
  part('open-file').addEventListener('click', () => chooser.click());
  chooser.addEventListener('change', () => {
    read(chooser.files?.[0]).catch(complain);
    chooser.value = '';
  });

  const choice = part<HTMLSelectElement>('new-from');
  const known = templates();
  choice.append(...known.map(({ name, about }) => element('option', { value: name }, `${name}: ${about}`)));
  choice.addEventListener('change', () => {
    const chosen = known.find(({ name }) => name === choice.value);
    choice.value = '';
    if (chosen !== undefined) show(chosen.text, chosen.name).catch(complain);
  });

  document.addEventListener('dragover', (event) => {
    if (event.dataTransfer?.types.includes('Files') === true) event.preventDefault();
  });
  document.addEventListener('drop', (event) => {
    if (event.dataTransfer?.types.includes('Files') !== true) return;
    event.preventDefault();
    read(event.dataTransfer.files[0]).catch(complain);
  });
}
