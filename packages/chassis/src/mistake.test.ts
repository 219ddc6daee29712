import { expect, test } from 'vitest';
import { z } from 'zod';
import { mistakeOf } from './mistake.ts';

const shape = z.object({ kind: z.string() });
const refusalOf = (input: unknown) => mistakeOf(shape.safeParse(input).error?.issues[0], input);

test('a refusal has the value that was given, shortened', () => {
  expect(refusalOf({ kind: 1 })).toBe('1 is not a string: give a string');
  expect(refusalOf({ kind: ['x'.repeat(100)] })).toBe(`["${'x'.repeat(78)} is not a string: give a string`);
});

test('a value that is nested deeper than the stack is refused like any other', () => {
  const deep = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`) as unknown;
  expect(refusalOf({ kind: deep })).toBe('a value that is nested too deep is not a string: give a string');
});
