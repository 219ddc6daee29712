import { act, heartbeatStep, is, LOOK, type PeerCase, replay, replays, type Step, type Suite, times } from './peer.ts';

const NO = is('HEALTHY');
const STUCK = is('STUCK');

const run = (command: string, result = ''): Step => act({ tool: 'run', args: { command }, result });
const read = (path: string, result: string): Step => act({ tool: 'read', args: { path }, result });
const failing = (result: string): Step =>
  act({ tool: 'run', args: { command: 'invalid_command' }, result, outcome: 'error', error_class: 'error' });
const cell = (result: string): Step => act({ tool: 'ipython', args: { code: 'edit' }, result });
const textCall = (text: string): Step =>
  act({ tool: 'message', args: { text }, result: '', target: `message ${text}` });
const COMPACT: Step = act({ tool: 'compact', args: {}, result: 'trimmed' });
const ls = (n: number): Step[] => times(n, () => run('ls'));

/** A message of a person: one more comment on the work item, in a watched run; else nothing is reported. */
const commented = (comments: number): Step =>
  heartbeatStep({
    work: { id: 'w', status: 'open', updated_at: null, claim_refreshed_at: null, comment_count: comments },
  });

const syntax = (text: string, n: number, line: (i: number) => number): Step[] =>
  times(n, (i) => cell(`Cell In[1], line ${line(i)}\n${text}`));
const INVALID = 'SyntaxError: invalid syntax';
const INCOMPLETE = 'SyntaxError: incomplete input';
const UNTERMINATED = 'SyntaxError: unterminated string literal';
const same = () => 42;
const moving = (i: number) => 10 * (i + 1);
const pair = [run('ls', 'a b'), read('a', 'text')];

const cases: readonly PeerCase[] = [
  replay('one command', [run('ls', 'a b')], [NO]),
  replays('a person’s message restarts the count where a person watches', [
    { given: [...ls(4), LOOK, ...ls(4)], expected: [STUCK, STUCK] },
    {
      given: [commented(0), ...ls(4), LOOK, commented(1), LOOK, ...ls(2), LOOK, ...ls(2)],
      expected: [STUCK, NO, NO, STUCK],
    },
  ]),
  replay('the same command and answer', [textCall('Hello'), ...ls(2), LOOK, ...ls(1), LOOK, ...ls(1)], [NO, NO, STUCK]),
  replay(
    'the same command, failing otherwise each time',
    ['not found', 'still not found', 'another', 'not found'].map(failing),
    [STUCK],
  ),
  replay('a syntax error at one place', syntax(INVALID, 4, same), [STUCK]),
  replay('a syntax error that moves', syntax(INVALID, 4, moving), [NO]),
  replay('a syntax error that moves, three times', syntax(INVALID, 3, moving), [NO]),
  replay('an incomplete input at one place', syntax(INCOMPLETE, 4, same), [STUCK]),
  replay('an incomplete input that moves', syntax(INCOMPLETE, 4, moving), [NO]),
  replay('an open string that moves', syntax(UNTERMINATED, 4, moving), [NO]),
  replay('an open string, twice', syntax(UNTERMINATED, 2, same), [NO]),
  replay('an open string at one place', syntax(UNTERMINATED, 4, same), [STUCK]),
  replay('an error followed by other words each time', ['more', 'too much', 'enough', 'last'].map(cell), [NO]),
  replay('two calls in turn, three times', [...pair, ...pair, ...pair], [STUCK]),
  replay(
    'other calls',
    [run('ls', 'a b'), read('a', 'x'), run('pwd', '/'), read('b', 'y'), run('pwd', '/'), read('b', 'y')],
    [NO],
  ),
  replay(
    'a monologue, and one that something is learnt in',
    [
      textCall('Hi'),
      ...times(3, () => textCall('I am well')),
      LOOK,
      run('echo 42', 'no more'),
      ...times(2, () => textCall('I am well')),
    ],
    [STUCK, NO],
  ),
  replay(
    'ten compactions of the context',
    times(10, () => COMPACT),
    [STUCK],
  ),
  replay(
    'ten compactions with work between',
    times(10, (i) => [COMPACT, run(`ls ${i}`, 'a b'), ...(i % 2 === 0 ? [read(`f${i}`, `text ${i}`)] : [])]),
    [NO],
  ),
  replay(
    'nine compactions',
    times(9, () => COMPACT),
    [NO],
    {
      differs: 'one limit holds for all tools: a compaction is a call, and the fourth like it in a row is a loop',
    },
  ),
  replay(
    'ten compactions with messages between, headless',
    times(10, () => COMPACT),
    [STUCK],
  ),
  replays('ten compactions before a person’s message', [
    { given: times(10, () => COMPACT), expected: [STUCK] },
    { given: [commented(0), ...times(10, () => COMPACT), commented(1)], expected: [NO] },
  ]),
  replay('one that waits for a delegate that is stuck', [act({ tool: 'delegate', outcome: 'running' })], [STUCK], {
    differs: 'the delegate is an agent and judged itself; who waits for it is overdue at the deadline of that call',
  }),
];

export const openhands: Suite = {
  name: 'OpenHands',
  source:
    '`All-Hands-AI/OpenHands` `tests/unit/controller/test_is_stuck.py` at 156d0686 (its 22 tests are those of 0c68ea35, which was read), MIT',
  policy: `policy: openhands
signals:
  action:    { is: repeated_calls, times: 4, cycles: 3, max_cycle: 2, failing_times: 3 }
  monologue: { is: same_target, times: 3 }
states:
  STUCK: [action, monologue]
`,
  read: [
    'A message is a call of the tool `message` with the text as target; a compaction of the context is a call. A message of a person is a',
    'comment on the work item where a person watches; headless it is not reported.',
  ],
  cases,
};
