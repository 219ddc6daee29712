import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { acts, alone } from './playbill.ts';

const root = path.resolve(import.meta.dirname, '../..');
const stories = [...acts, alone].flatMap((act) => Object.keys({ ...act.stories, ...act.slow }));
/** Rows of its tables, as cells. */
const rows = readFileSync(path.join(import.meta.dirname, 'README.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| # ') && !line.startsWith('| finding '))
  .map((line) => line.split('|').slice(1, -1));
const quoted = (cell: string | undefined): string[] =>
  [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(([, one = '']) => one);
const incidents = rows.filter(([first]) => /^ \d+ $/.test(first ?? ''));

test('each incident that concerns acting, 31 to 68, is in it once', () => {
  expect(incidents.map(([number]) => Number(number))).toEqual(Array.from({ length: 38 }, (_, i) => 31 + i));
});

test.each(rows.map((cells) => [cells[0]?.trim(), quoted(cells[2])] as const))(
  '%s has a story that runs',
  (_, named) => {
    expect(named.length).toBeGreaterThan(0);
    for (const story of named) expect(stories).toContain(story);
  },
);

test.each(incidents.flatMap(([, , , elsewhere]) => quoted(elsewhere)))('there is %s', (one) => {
  const [file = '', ...name] = one.split(': ');
  expect(readFileSync(path.join(root, file), 'utf8')).toContain(`test('${name.join(': ')}'`);
});
