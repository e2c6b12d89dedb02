// The parts that are a function or two each.

import { Text } from '@codemirror/state';
import { describe, expect, it } from 'vitest';
import { roundLength } from './backdrop';
import { Clock, slowing, speedFor } from './clock';
import { valueAt } from './compare';
import { offsetOf } from './editor';
import { matches } from './events';
import { count, fileName, short } from './format';
import { joined, stretches } from './gaps';
import { lawOrder } from './laws';
import type { RunEvent } from './protocol';
import { sketch } from './sketch';

describe('numbers', () => {
  it('are short without losing what counts', () => {
    expect(short(0)).toBe('0');
    expect(short(-1.5)).toBe('−1.5');
    expect(short(0.14076914583333683, 8)).toBe('0.14076915');
    expect(short(2.2163599e-16, 3)).toBe('2.22e−16');
    expect(short(123456789, 4)).toBe('1.235e8');
    expect(short(100)).toBe('100');
    expect(short(null)).toBe('–');
    expect(count(1234567)).toBe('1\u2009234\u2009567');
    expect(fileName('<b>The "paradox"</b> / ../x')).toBe('b-the-paradox-b-x');
    expect(fileName('…')).toBe('scene');
    expect([0.3, 1.4, 36, 0.0008].map(roundLength)).toEqual(
      [0.2, 1, 50, 0.001].map((x) => expect.closeTo(x, 12)),
    );
  });
});

describe('the clock', () => {
  it('stops at the end and begins again', () => {
    const clock = new Clock();
    clock.end = 2;
    clock.play();
    clock.advance(1.5);
    expect(clock.time).toBe(1.5);
    clock.advance(1);
    expect([clock.time, clock.playing]).toEqual([2, false]);
    clock.play();
    expect([clock.time, clock.playing]).toEqual([0, true]);
  });

  it('waits at the end of what is known while there is more to come', () => {
    const clock = new Clock();
    clock.end = 1;
    clock.live = true;
    clock.play();
    clock.advance(2);
    expect([clock.time, clock.playing]).toEqual([1, true]);
    clock.end = 3;
    clock.advance(1);
    expect(clock.time).toBe(2);
  });

  it('goes through an event slowly, and through a passage at the speed of the passage', () => {
    expect(slowing(0, 1)).toBe(0.05);
    expect(slowing(10, 1)).toBe(1);
    const clock = new Clock();
    clock.end = 10;
    clock.slow = true;
    clock.distance = () => 0;
    clock.play();
    clock.advance(1);
    expect(clock.time).toBeCloseTo(0.05, 12);
    clock.pass(3, 4, 8);
    clock.advance(4);
    expect(clock.time).toBe(3.5);
    clock.advance(5);
    expect([clock.time, clock.playing, clock.passage]).toEqual([4, false, null]);
  });

  it('chooses a speed that one can watch', () => {
    expect(speedFor(10)).toBe(1);
    expect(speedFor(0.4)).toBe(0.05);
    expect(speedFor(5000)).toBe(1000);
  });
});

it('an event is found by the words of its row', () => {
  const event = {
    number: 17,
    kind: 'hold_end',
    bodies: ['Egg', 'table'],
    type: 'separating',
  } as unknown as RunEvent;
  expect(matches(event, '', '')).toBe(true);
  expect(matches(event, 'impact', '')).toBe(false);
  expect(matches(event, 'hold_end', 'egg separating')).toBe(true);
  expect(matches(event, '', 'hold end')).toBe(true);
  expect(matches(event, '', 'egg wall')).toBe(false);
});

it('a place in the text counts characters, not bytes or code units', () => {
  const text = Text.of(['äöü = 1', '𝄞𝄞 = 2', '']);
  expect(offsetOf(text, 1, 1)).toBe(0);
  expect(offsetOf(text, 1, 7)).toBe(6);
  expect(offsetOf(text, 2, 3)).toBe(12);
  expect(offsetOf(text, 2, 99)).toBe(16);
  expect(offsetOf(text, 99, 1)).toBe(17);
});

it('laws stand in the order of the program, unknown ones last', () => {
  expect(lawOrder(['decoupled', 'new', 'poisson', 'newton_lcp'])).toEqual([
    'newton_lcp',
    'poisson',
    'decoupled',
    'new',
  ]);
});

it('a curve between its points', () => {
  expect(valueAt([0, 1, 3], [0, 2, 6], 2)).toBe(4);
  expect(valueAt([0, 1, 3], [0, null, 6], 2)).toBeNull();
  expect(valueAt([0, 1], [0, 1], 2)).toBeNull();
});

describe('a sketch', () => {
  const poseOf = (orientation: string): number[] => {
    const timeline = sketch(
      `[[body]]\nshape = { sphere = { radius = 2 } }\nposition = [1, 2, 3]\norientation = ${orientation}`,
    );
    const out = new Float64Array(7);
    timeline?.poses(0, out);
    return [...out];
  };

  it('reads the three ways to give an orientation', () => {
    const [c, s] = [Math.cos(0.2), Math.sin(0.2)];
    const turned = [1, 2, 3, c, s, 0, 0].map((x) => expect.closeTo(x, 6));
    expect(poseOf(`[${c}, ${s}, 0, 0]`)).toEqual(turned);
    expect(poseOf('{ bryan = [0.4, 0, 0] }')).toEqual(turned);
    const [c2, s2] = [Math.cos(0.4), Math.sin(0.4)];
    expect(poseOf(`{ axes = [[1, 0, 0], [0, ${c2}, ${s2}], [0, ${-s2}, ${c2}]] }`)).toEqual(turned);
  });

  it('makes nothing of what it cannot read', () => {
    expect(sketch('[[body')).toBeNull();
    expect(sketch('{"title": 1}')).toBeNull();
    expect(sketch('body = 3')).toBeNull();
  });
});

describe('the gap over a run', () => {
  const event = (number: number, time: number, first: string, second: string): RunEvent =>
    ({ number, time, bodies: [first, second] }) as unknown as RunEvent;
  const events = [
    event(0, 1, 'floor', 'a'),
    event(1, 2, 'floor', 'b'),
    event(2, 3, 'a', 'b'),
    event(3, 7, 'floor', 'a'),
  ];

  it('is asked for from event to event of the bodies that move', () => {
    expect(stretches(events, ['floor', 'a'], ['a'], 0, 10)).toEqual([
      { event: 0, span: 2, from: 0, until: 3 },
      { event: 3, span: 4, from: 3, until: 10 },
    ]);
    expect(stretches(events, ['a', 'b'], ['a', 'b'], 0, 10)).toEqual([
      { event: 2, span: 4, from: 2, until: 7 },
    ]);
  });

  it('stands beside another run’s on one axis', () => {
    expect(
      joined(
        [
          [0, 1],
          [5, 6],
        ],
        [
          [0, 0.5],
          [7, 8],
        ],
      ),
    ).toEqual([
      [0, 0.5, 1],
      [5, undefined, 6],
      [7, 8, undefined],
    ]);
  });
});
