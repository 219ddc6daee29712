import { expect, test } from 'vitest';
import { IMPORT_KINDS } from './importers.ts';
import { mistakesIn } from './importing.fixture.ts';

test.each(IMPORT_KINDS)('%s: a file of something else is refused, naming what to give', (kind) => {
  if (kind === 'botbox') return;
  expect(mistakesIn(kind, 'colour = 3')).toEqual([expect.stringMatching(/^document: nothing of it is known: give /)]);
});
