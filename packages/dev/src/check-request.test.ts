import { expect, it } from 'vitest';
import { checkRequestOf } from './check-request.ts';

const STEPS = ['types', 'lint', 'prose'];
const requestOf = (...args: readonly string[]) => checkRequestOf(args, STEPS);

it('without a name every step runs', () => {
  expect(requestOf()).toEqual({ kind: 'run', names: STEPS, fix: false });
  expect(requestOf('--fix')).toEqual({ kind: 'run', names: STEPS, fix: true });
});

it('only the named steps run, in their usual order', () => {
  expect(requestOf('lint')).toEqual({ kind: 'run', names: ['lint'], fix: false });
  expect(requestOf('prose', '--fix', 'types')).toEqual({ kind: 'run', names: ['types', 'prose'], fix: true });
});

it('an unknown step or option is refused with the list of the steps, also beside a known one', () => {
  expect(() => requestOf('lint', 'spelling')).toThrow(
    'spelling is not a step or an option: npm run check [STEP…] [-- --fix]; the steps are types, lint, prose',
  );
  expect(() => requestOf('--watch')).toThrow('--watch is not a step or an option');
});

it('--help runs nothing and lists the steps', () => {
  expect(requestOf('lint', '--help')).toEqual({
    kind: 'help',
    text: 'npm run check [STEP…] [-- --fix]; the steps are types, lint, prose',
  });
});
