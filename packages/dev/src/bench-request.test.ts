import { expect, it } from 'vitest';
import { benchRequestOf } from './bench-request.ts';

const requestOf = (...args: readonly string[]) => benchRequestOf(args, ['idle', 'page', 'projector']);

it('without a name every benchmark runs, with names only those', () => {
  expect(requestOf('--json')).toEqual({ kind: 'run', names: ['idle', 'page', 'projector'], json: true });
  expect(requestOf('projector', 'idle')).toEqual({ kind: 'run', names: ['idle', 'projector'], json: false });
});

it('an unknown benchmark or option is refused with the list, also beside a known one', () => {
  expect(() => requestOf('idle', 'pages')).toThrow('pages is not a benchmark or an option: npm run bench [NAME…]');
  expect(() => requestOf('--jsn')).toThrow('the benchmarks are idle, page, projector');
});

it('--help runs nothing', () => {
  expect(requestOf('--help', 'idle')).toMatchObject({
    kind: 'help',
    text: expect.stringContaining('idle, page, projector'),
  });
});
