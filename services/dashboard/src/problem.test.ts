import { expect, test } from 'vitest';
import { z } from 'zod';
import { badInput } from './problem.ts';

const shape = z.strictObject({
  limit: z.int().min(1).max(1000).optional(),
  by: z.string().min(1),
  step: z.enum(['nudge', 'restart']).optional(),
  note: z.string().regex(/^a/, 'begin it with a').optional(),
});

const messageOf = (input: object): string => {
  const read = shape.safeParse(input);
  if (read.success) throw new Error('the input is right');
  return badInput('bad_filter', read.error, input, 'query').message;
};

test.each([
  [{ limit: 0, by: 'ada' }, 'limit: 0 is too small: give at least 1'],
  [{ limit: 1001, by: 'ada' }, 'limit: 1001 is too large: give at most 1000'],
  [{}, 'by: is missing: give a string'],
  [{ by: 7 }, 'by: 7 is not a string: give a string'],
  [{ by: '' }, 'by: "" is too small: give at least 1 characters'],
  [{ by: 'ada', step: 'jump' }, 'step: "jump" is unknown: give one of nudge, restart'],
])('an input that is refused is named with its value and what to give: %j', (input, text) => {
  expect(messageOf(input)).toBe(text);
});

test('a message that a schema has of its own stays', () => {
  expect(messageOf({ by: 'ada', note: 'b' })).toBe('note: begin it with a');
});
