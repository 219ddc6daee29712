import { act, hash, heartbeatStep, is, LOOK, type PeerCase, replay, type Step, type Suite, times } from './peer.ts';

const NO = is('HEALTHY');
const DOOM = { ...is('STUCK'), contains: 'search' };
const search = (q = 'hello'): Step => act({ tool: 'search', args: { q }, result: 'result' });
const fetched: Step = act({ tool: 'fetch', args: { url: 'b' }, result: 'page' });
const verdict = (total: number, word: 'RETRY' | 'ACCEPT'): Step =>
  heartbeatStep({ steps: { total_steps: total, verdicts: [word] } });
/** A turn, after which its judge requests another. */
const turns = (n: number, step: (i: number) => Step): Step[] => times(n, (i) => [step(i), verdict(i + 1, 'RETRY')]);
const OFF = { policy: 'policy: off\nsignals: {}\nstates: {}\n' };
const broken: Step = act({ tool: 'failing_tool', args: {}, result: 'unavailable', outcome: 'error' });

const cases: readonly PeerCase[] = [
  hash('a call is its tool and arguments', 'call', 'alike', [
    { tool: 'search', value: { q: 'hello' } },
    { tool: 'search', value: { q: 'hello' } },
  ]),
  replay('two calls, then the same two the other way round', [search(), fetched, fetched, search()], [NO]),
  hash('the order of keys', 'call', 'alike', [{ value: { b: 2, a: 1 } }, { value: { a: 1, b: 2 } }]),
  replay(
    'two turns',
    times(2, () => search()),
    [NO],
  ),
  replay(
    'three turns',
    times(3, () => search()),
    [DOOM],
  ),
  replay('three tools', [search('deploy'), act({ tool: 'read', args: 'x' }), act({ tool: 'run', args: 'y' })], [NO]),
  replay(
    'switched off',
    times(3, () => search()),
    [NO],
    OFF,
  ),
  replay(
    'turns without calls',
    times(3, () => heartbeatStep({})),
    [NO],
  ),
  replay(
    'three turns judged RETRY, then ACCEPT',
    [...turns(3, () => search()), LOOK, verdict(4, 'ACCEPT')],
    [DOOM, NO],
  ),
  replay(
    'it is reported, with the tool',
    turns(3, () => search()),
    [DOOM],
  ),
  replay(
    'switched off, over four turns',
    turns(4, () => search()),
    [NO],
    OFF,
  ),
  replay(
    'other arguments each turn',
    turns(3, (i) => search(`query ${i}`)),
    [NO],
  ),
  replay(
    'the same tool failing alike',
    turns(4, () => broken),
    [is('STUCK')],
  ),
];

export const hive: Suite = {
  name: 'hive',
  source: 'aden-hive/hive `core/tests/test_event_loop_node.py`, its tests of the doom loop, at 54fd8db4, Apache-2.0',
  policy: `policy: hive
signals:
  doom_loop: { is: repeated_calls, times: 3, max_cycle: 1 }
states:
  STUCK: [doom_loop]
`,
  read: ['A turn is its calls; the decisions of its judge are steps.'],
  cases,
};
