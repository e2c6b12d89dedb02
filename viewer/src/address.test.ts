import { describe, expect, it } from 'vitest';
import { packed, parsePlace, unpacked, viewOf } from './address';

describe('addresses', () => {
  it('say what is open and how it is seen', () => {
    expect(parsePlace('')).toEqual({ kind: '', id: '', view: {} });
    expect(parsePlace('#scene/paradox')).toEqual({ kind: 'scene', id: 'paradox', view: {} });
    const view = { time: 0.0683, tab: 'plots', plots: ['energy', 'gap'] };
    expect(parsePlace(`#scene/a%20b${viewOf(view)}`)).toEqual({ kind: 'scene', id: 'a b', view });
    expect(parsePlace('#scene/%E0%A4&t=x&tab=').id).toBe('%E0%A4');
    expect(parsePlace('#run/1&t=-0').view.time).toBe(-0);
  });

  it('hold a scene of any text', async () => {
    for (const text of ['', 'carom = 1\n', 'name = "Kugel é 球 🎱"\n'.repeat(200)]) {
      const data = await packed(text);
      expect(data).toMatch(/^[A-Za-z0-9_-]*$/);
      expect(await unpacked(data)).toBe(text);
    }
    expect((await packed('mass = 1\n'.repeat(1000))).length).toBeLessThan(200);
  });

  it('say so when they are damaged', async () => {
    const data = await packed('carom = 1\n[[body]]\n');
    for (const wrong of [data.slice(0, -6), '%%%', 'AAAA'])
      await expect(unpacked(wrong)).rejects.toThrow('damaged');
  });
});
