import { act, hash, is, LOOK, outside, type PeerCase, replay, type Step, times } from './peer.ts';

const NO = is('HEALTHY');
const WARNING = is('DEGRADED');
const CRITICAL = is('STUCK');
const GLOBAL = is('FAILING');

const read = (instance?: string | null): Step => act({ tool: 'read', args: { path: '/s' }, result: 'same' }, instance);
const write = (path: string, result = `wrote ${path}`): Step =>
  act({ tool: 'write', args: { path, content: 'c' }, result });
const poll = (output: string): Step =>
  act({ tool: 'process', args: { action: 'poll', session: 's' }, result: { text: output, status: 'running' } });
const exec = (command: string, result: unknown): Step => act({ tool: 'exec', args: { command }, result });
const unknown = (command: string): Step =>
  act({
    tool: 'exec',
    args: { command },
    result: 'tool exec not found',
    outcome: 'error',
    error_class: 'unknown_tool',
  });
/** a and b in turn, `n` calls. */
const inTurn = (n: number, result: (tool: string, i: number) => string): Step[] =>
  times(n, (i) => {
    const tool = i % 2 === 0 ? 'read' : 'list';
    return act({ tool, args: { at: tool }, result: result(tool, i) });
  });

export const RECORDS = 'how calls are kept in memory: ours are folded, none is kept';
const MASKED =
  'the answers differ in digits alone, which masking takes for the same, as in a recorded loop of twenty (docs/accuracy.md)';
const NEW_RESULT = 'a call with a new result, if only once, restarts the count';

export const calls: readonly PeerCase[] = [
  replay(
    'off by default',
    times(20, () => read()),
    [NO],
    { policy: 'policy: off\nsignals: {}\nstates: {}\n' },
  ),
  replay(
    '15 different reads',
    times(15, (i) => act({ tool: 'read', args: { path: `/${i}` } })),
    [NO],
  ),
  replay('ten times in another run', [...times(10, () => read('run-1')), LOOK, read('run-2')], [WARNING, NO]),
  replay(
    'ten times in this run',
    times(10, () => read('run-1')),
    [WARNING],
  ),
  replay('ten times in a run, then a call of none', [...times(10, () => read('run-1')), read(null)], [NO], {
    differs: 'a heartbeat that names no instance belongs to the current one: an old client must not hide a loop',
  }),
  replay(
    'the same ten times',
    times(10, () => read()),
    [{ ...WARNING, contains: '10 times' }],
  ),
  replay(
    'the same twenty times',
    times(20, () => read()),
    [CRITICAL],
  ),
  replay(
    'ten polls without anything new',
    times(10, () => poll('nothing new')),
    [WARNING],
  ),
  replay(
    'twenty polls without anything new',
    times(20, () => poll('nothing new')),
    [CRITICAL],
  ),
  replay(
    '25 polls, each with a line more',
    times(25, (i) => poll(`line ${i}`)),
    [NO],
    {
      differs: `${MASKED}; a polling call has its own limit in time`,
    },
  ),
  replay(
    'the same thirty times',
    times(30, () => read()),
    [GLOBAL],
  ),
  replay(
    'writes to two files to and fro, thirty times',
    times(30, (i) => write('abaab'[i % 5] ?? '')),
    [GLOBAL],
  ),
  replay(
    'the same, with two single ones between',
    times(30, (i) => write(i === 8 || i === 19 ? `probe-${i}` : `${i % 2}`)),
    [GLOBAL],
    { differs: NEW_RESULT },
  ),
  replay(
    'thirty writes to thirty files',
    times(30, (i) => write(`file-${i}`, 'done')),
    [NO],
  ),
  replay(
    'fifteen files, twice over',
    times(30, (i) => write(`batch-${i % 15}`)),
    [NO],
  ),
  replay(
    'to and fro, each write another revision',
    times(30, (i) => write('ab'[i % 2] ?? '', `revision ${i}`)),
    [NO],
    { differs: `${MASKED}; of two tools in turn they warn alike` },
  ),
  replay(
    'a command that answers the same but for time and folder',
    times(20, (i) => exec('list', { out: 'two found', exitCode: 0, durationMs: 100 + i, cwd: `/project/${i}` })),
    [CRITICAL],
  ),
  replay(
    'a command that still runs, under another session and pid',
    times(20, (i) => exec('follow', { text: `running (s-${i}, pid ${1000 + i})`, pid: 1000 + i, tail: '' })),
    [CRITICAL],
  ),
  replay(
    'the clock asked thirty times',
    times(30, (i) => exec('date', `tick ${i}`)),
    [WARNING],
    { differs: MASKED },
  ),
  replay(
    'thirty failures that count themselves',
    times(30, (i) => exec('flaky', `no start, try ${i}`)),
    [WARNING],
    {
      differs: MASKED,
    },
  ),
  replay(
    'nine calls of a tool that there is not',
    times(9, (i) => unknown(`echo ${i}`)),
    [NO],
  ),
  replay(
    'twenty, all different',
    times(20, (i) => unknown(`try ${i}`)),
    [CRITICAL],
  ),
  replay(
    'two calls in turn, ten',
    inTurn(10, (tool) => tool),
    [WARNING],
  ),
  replay(
    'two calls in turn, twenty',
    inTurn(20, (tool) => tool),
    [{ ...CRITICAL, contains: 'cycle' }],
  ),
  replay(
    'two calls in turn, whose answers change',
    inTurn(20, (tool, i) => `${tool} ${i}`),
    [WARNING],
  ),
  replay('two calls in turn, broken by a third', [...inTurn(3, (t) => t), write('out'), ...inTurn(1, (t) => t)], [NO]),
  hash('40 kB of result', 'result', 'sized', [{ value: { text: 'y'.repeat(40_000) } }, { value: 1 }]),
  replay(
    'a call that is reported at its start and at its end is one',
    times(10, () => act({ tool: 'gateway', args: { action: 'look' }, result: 'schema', announced: true })),
    [WARNING],
  ),
  ...outside(RECORDS, 'the oldest calls are dropped', 'a result finds the call of its own run'),
  replay('no calls', [], [NO]),
];
