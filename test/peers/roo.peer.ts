import { act, is, LOOK, outside, type PeerCase, replay, type Step, type Suite, times } from './peer.ts';

const NO = is('HEALTHY');
const BLOCKED = is('STUCK');
const one = (tool: string, args: unknown = {}): Step => act({ tool, args });
const same = (n: number): Step[] => times(n, () => one('tool'));
/** Their limit is the number of repetitions after the first call. */
const limit = (more: number) => ({
  policy: `policy: roo
signals:
  repetition: { is: repeated_calls, times: ${more + 1}, max_cycle: 1 }
states:
  STUCK: [repetition]
`,
});
const OFF = { policy: 'policy: off\nsignals: {}\nstates: {}\n' };
const ENDS = 'a finding ends with a new result of a call, not by its report';
const files = (...paths: readonly string[]) => one('read_file', { files: paths.map((path) => ({ path })) });

const cases: readonly PeerCase[] = [
  replay('three by default', [...same(3), LOOK, ...same(1)], [NO, BLOCKED]),
  replay('another limit', [...same(2), LOOK, ...same(1)], [NO, BLOCKED], limit(2)),
  replay('three tools', [one('first'), one('second'), one('third')], [NO]),
  replay('another tool between', [one('same'), one('different'), one('same')], [NO], limit(2)),
  replay('below the limit, and at it', [...same(3), LOOK, ...same(1)], [NO, BLOCKED]),
  replay('at the limit, with the tool', same(4), [{ ...BLOCKED, contains: 'tool' }]),
  replay('another tool after the limit', [...same(3), LOOK, one('new')], [BLOCKED, NO], limit(2)),
  replay('the same tool after the limit', [...same(3), LOOK, ...same(1)], [BLOCKED, NO], {
    ...limit(2),
    differs: ENDS,
  }),
  replay('the limit again', [...same(3), LOOK, ...same(3)], [BLOCKED, BLOCKED], limit(2)),
  replay(
    'the tool’s name is in the words',
    times(3, () => one('special-tool-name')),
    [{ ...BLOCKED, contains: 'special-tool-name' }],
    limit(2),
  ),
  replay(
    'a call without arguments',
    times(3, () => act({ tool: 'empty', args: null })),
    [BLOCKED],
    limit(2),
  ),
  ...outside('a serialiser that is replaced to answer the same for two tools', 'two tools that serialise alike'),
  replay(
    'the order of parameters',
    [
      { a: 1, b: 2, c: 3 },
      { c: 3, a: 1, b: 2 },
      { b: 2, c: 3, a: 1 },
    ].map((args) => one('tool', args)),
    [BLOCKED],
    limit(2),
  ),
  replay('limit 1: the second', [...same(1), LOOK, ...same(1)], [NO, BLOCKED], limit(1)),
  replay('limit 2: the third', [...same(2), LOOK, ...same(1)], [NO, BLOCKED], limit(2)),
  replay('limit 3: the fourth', [...same(3), LOOK, ...same(1)], [NO, BLOCKED], limit(3)),
  replay('limit 0: never', same(10), [NO], OFF),
  replay('limit 5: the sixth', [...same(5), LOOK, ...same(1)], [NO, BLOCKED], limit(5)),
  replay('again after the limit', [...same(3), LOOK, ...same(1)], [BLOCKED, NO], { ...limit(2), differs: ENDS }),
  replay('a limit below 0: never', same(5), [NO], OFF),
  replay('other files', [files('1'), files('2'), files('1')], [NO], limit(2)),
  replay(
    'the same files',
    times(3, () => files('1')),
    [BLOCKED],
    limit(2),
  ),
  replay('the same files in another order', [files('a', 'b'), files('b', 'a')], [NO], limit(1)),
  replay(
    'another folder',
    ['user', 'admin'].map((cwd) => one('run', { command: 'ls', cwd })),
    [NO],
    limit(1),
  ),
  replay(
    'parameters of the older kind',
    times(3, () => one('read_file', { path: 'x' })),
    [BLOCKED],
    limit(2),
  ),
];

export const roo: Suite = {
  name: 'Roo Code',
  source:
    'RooCodeInc/Roo-Code `src/core/tools/__tests__/ToolRepetitionDetector.spec.ts` at cb836567 (as far as it is the same in 1ad5afb9, which was read), Apache-2.0',
  ...limit(3),
  read: [
    'Blocked is STUCK. A limit of n is n + 1 `times`; a limit of 0 or below is a policy that does not name the signal.',
  ],
  cases,
};
