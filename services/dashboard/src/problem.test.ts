import { expect, test } from 'vitest';
import { z } from 'zod';
import { badInput, problemFor } from './problem.ts';

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
  [{ by: '' }, 'by: "" is too small: give at least 1 character'],
  [{ by: 'ada', since: 1 }, 'query: "since" is unknown here: leave it out, or see /v1/openapi.json'],
  [{ by: 'ada', step: 'jump' }, 'step: "jump" is unknown: give one of nudge, restart'],
])('an input that is refused is named with its value and what to give: %j', (input, text) => {
  expect(messageOf(input)).toBe(text);
});

test('a message that a schema has of its own stays', () => {
  expect(messageOf({ by: 'ada', note: 'b' })).toBe('note: begin it with a');
});

test('of several forms, an unknown one is named with those that exist', () => {
  const forms = z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('hold') }),
    z.strictObject({ kind: z.literal('release') }),
  ]);
  const textFor = (input: unknown): string => {
    const read = forms.safeParse(input);
    if (read.success) throw new Error('the input is right');
    return badInput('bad_command', read.error, input, 'kind').message;
  };
  expect(textFor({ kind: 'x' })).toBe('kind: "x" is unknown: give one of hold, release');
  expect(textFor({})).toBe('kind: is missing: give one of hold, release');
  expect(textFor('x')).toBe('kind: "x" is not an object: give an object');
});

test('Postgres without a free connection is a reason to try again, and no failure of the dashboard', () => {
  const failures: unknown[] = [];
  const busy = problemFor(new Error('timeout exceeded when trying to connect'), (error) => failures.push(error));
  expect(busy).toMatchObject({ status: 503, type: 'read_model_busy' });
  expect(failures).toEqual([]);
});
