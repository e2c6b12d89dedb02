// Numbers as people read them; all digits are in `data-value`.

/** A number with `digits` significant digits, without trailing zeros, in exponent form where that is shorter. */
export function short(value: number | null | undefined, digits = 6): string {
  if (value === null || value === undefined) return '–';
  if (!Number.isFinite(value)) return String(value);
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size < 1e-4 || size >= 10 ** Math.max(digits, 6)) {
    const [mantissa, exponent] = value.toExponential(digits - 1).split('e');
    return `${trim(mantissa ?? '')}e${Number(exponent)}`.replace('-', '−').replace('e-', 'e−');
  }
  return trim(value.toPrecision(digits)).replace('-', '−');
}

function trim(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

/** Every digit that the number has. */
export function full(value: number | null | undefined): string {
  return value === null || value === undefined ? '' : String(value);
}

/** A vector, short. */
export function vector(values: readonly number[] | null | undefined, digits = 5): string {
  return values === null || values === undefined
    ? '–'
    : `[${values.map((v) => short(v, digits)).join(', ')}]`;
}

/** A whole number with thin spaces between thousands. */
export function count(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, '\u2009');
}

/** A kind or type as words: `hold_begin` reads "hold begin". */
export function words(name: string): string {
  return name.replaceAll('_', ' ');
}

/** A file name from a title: lower case, nothing a file system minds. */
export function fileName(title: string): string {
  const plain = title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60);
  return plain === '' ? 'scene' : plain;
}
