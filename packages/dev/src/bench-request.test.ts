import { expect, it } from 'vitest';
import { benchRequestOf } from './bench-request.ts';

const requestOf = (...args: readonly string[]) => benchRequestOf(args, ['idle', 'page', 'projector']);

it('with names only those run, in the order of the list', () => {
  expect(requestOf('projector', 'idle')).toEqual({ kind: 'run', names: ['idle', 'projector'], json: false });
  expect(requestOf('page', '--json')).toEqual({ kind: 'run', names: ['page'], json: true });
});

it('--all continues with all of them', () => {
  expect(requestOf('--all', '--json')).toEqual({
    kind: 'continue',
    names: ['idle', 'page', 'projector'],
    json: true,
  });
});

it('--results runs nothing', () => {
  expect(requestOf('--results')).toEqual({ kind: 'results' });
});

it('an unknown benchmark or option is refused with the list, also beside a known one', () => {
  expect(() => requestOf('idle', 'pages')).toThrow('pages is not a benchmark or an option');
  expect(() => requestOf('--jsn')).toThrow('the benchmarks are idle, page, projector');
});

it('without a name and without --all nothing runs: the usage is the answer', () => {
  expect(() => requestOf()).toThrow('name a benchmark, or give --all\nnpm run bench NAME…');
  expect(() => requestOf('--json')).toThrow('name a benchmark, or give --all');
});

it('--help runs nothing', () => {
  expect(requestOf('--help', 'idle')).toMatchObject({
    kind: 'help',
    text: expect.stringContaining('idle, page, projector'),
  });
});
