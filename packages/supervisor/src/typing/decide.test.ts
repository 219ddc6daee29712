import { expect, test } from 'vitest';
import type { Surface } from '../screen/surface.ts';
import { decideTyping, noSession } from './decide.ts';

const cooked = { canonical: true, echo: true, opost: true };
const shell: Surface = {
  view: { lines: ['ready'], withoutFaint: ['ready'], cursor: { column: 0, row: 1 }, alternate: false },
  bracketedPaste: false,
  mode: cooked,
  client: null,
  meaning: { kind: 'unknown' },
  steadyMs: 0,
};
const decision = (more: Partial<Surface>) => decideTyping({ ...shell, ...more }, noSession);

test('a program that reads lines and echoes them gets a line', () => expect(decision({})).toEqual({ kind: 'line' }));

test.each([
  ['raw mode', { mode: { canonical: false, echo: true, opost: true } }, /raw mode/],
  ['no echo', { mode: { canonical: true, echo: false, opost: true } }, /without echo/],
  ['the alternate screen', { view: { ...shell.view, alternate: true } }, /alternate screen/],
  ['a mode that is not known', { mode: null }, /not known/],
] as const)('nothing is typed in %s of a program without an adapter', (_, more, why) => {
  expect(decision(more)).toEqual({ kind: 'wait', why: expect.stringMatching(why) });
});
