import { T0 } from '@vigil/health/fixture';
import {
  type Act,
  act,
  exit,
  heartbeatStep,
  is,
  LOOK,
  MIN,
  replay,
  replays,
  SEC,
  type Step,
  times,
  wait,
  watched,
} from './peer.ts';

const LEFT_ALONE = { ...is('HEALTHY'), plan: null };
const NOT_ACTED_ON = { ...is('HEALTHY', 'DEGRADED'), plan: null };
const STUCK = { ...is('STUCK'), plan: 'STUCK or FAILING' };
const HOUR = 60 * MIN;

const CALL: Step = act({ tool: 'Read', args: 'a', result: 'text' });
const polled: Act = { tool: 'bash', args: 'status', result: 'still running', polling: true };
const bash = (within?: number): Step =>
  act({ tool: 'bash', outcome: 'running', ...(within === undefined ? {} : { within }) });
const error = (message: string) => ({ errors: [{ at: T0, count: 1, error_class: null, hash: null, message }] });
const checkpoint = { checkpoint_id: 'k1', parent_id: null, uri: null, sha256: null, valid: null, invalid_reason: null };

/**
 * Public incidents of systems like this one, that concern detection and not action, each under the policy `vigil`. gc:
 * gastownhall/gascity; gt: gastownhall/gastown; hive: aden-hive/hive.
 */
export const incidents = [
  replays('OpenHands #5355: agents that waited for a long process were killed as looping', [
    { given: times(20, () => act(polled)), expected: [LEFT_ALONE] },
    { given: [CALL, bash(), watched(20 * MIN)], expected: [LEFT_ALONE] },
  ]),
  replay(
    'docker-agent #2123: 629 identical reads, every one successful',
    [...times(4, () => CALL), LOOK, CALL, LOOK, ...times(624, () => CALL)],
    [is('DEGRADED'), STUCK, is('FAILING')],
  ),
  replay(
    'egg #3341: no report arrived for 26 minutes, because its tests ran',
    [bash(30 * MIN), wait(26 * MIN)],
    [LEFT_ALONE],
  ),
  replay(
    'catalyst #2053: an idle service that sends nothing was marked down',
    [heartbeatStep({ activity: 'idle', task_id: null }), wait(HOUR)],
    [LEFT_ALONE],
  ),
  replay(
    'gc #295: an agent that waited for its user was nudged',
    [CALL, heartbeatStep({ activity: 'awaiting_input' }), watched(2 * HOUR)],
    [LEFT_ALONE],
  ),
  replay('gc #1855: a job of 16 hours was flagged', [CALL, bash(16 * HOUR), watched(15 * HOUR)], [LEFT_ALONE]),
  replay(
    'gc #4081: a slow start was counted as a failure',
    [heartbeatStep({ reporter: 'runtime', activity: 'starting' }), wait(240 * SEC)],
    [LEFT_ALONE],
  ),
  replay(
    'gt #2795: agents that were done were reported as dead, over and over',
    [CALL, heartbeatStep({ activity: 'finished' }), exit('finished'), wait(HOUR)],
    [{ ...is('TERMINATED'), plan: null }],
  ),
  replay(
    'gt #3726: what could not be looked up was read as not running',
    [heartbeatStep({ reporter: 'runtime', task_id: null }), watched(3 * HOUR)],
    [LEFT_ALONE],
  ),
  replay(
    'gt #4199: the agent had frozen while its host kept sending heartbeats',
    [CALL, watched(6 * MIN), LOOK, watched(MIN)],
    [LEFT_ALONE, STUCK],
  ),
  replay(
    'hive #5529: a run whose results are rightly all the same was failed',
    times(20, (i) => act({ tool: 'check', args: i })),
    [LEFT_ALONE],
  ),
  replay(
    'OpenMonoAgent #47: polling by one tool was taken for a loop',
    times(30, () => act(polled)),
    [LEFT_ALONE],
  ),
  replay(
    'block/buzz #935: the idle limit was shorter than what a tool may take',
    [CALL, bash(10 * MIN), watched(11 * MIN), LOOK, watched(MIN)],
    [LEFT_ALONE, { ...STUCK, contains: 'not answered' }],
  ),
  replay(
    'marveen #957: the warning that 90 % of a limit are used was taken for the limit',
    [CALL, heartbeatStep(error("You've used 90% of your session limit"))],
    [LEFT_ALONE],
  ),
  replay(
    'Pulse #1519: a sender whose clock was behind was always stale',
    times(120, (i) => heartbeatStep({ timestamp: T0 - HOUR + i * 5 * SEC, tool_calls: [] })),
    [LEFT_ALONE],
  ),
  replay(
    'gc #571: every request was refused alike, and the session looked alive',
    times(5, (i) =>
      act({ tool: 'model', kind: 'model', args: i, result: '400', outcome: 'error', error_class: 'invalid_request' }),
    ),
    [is('DEGRADED', 'STUCK')],
  ),
  replay(
    'gc #1400: a rate limit was counted as failing',
    times(30, (i) => act({ tool: 'model', kind: 'model', args: i, outcome: 'error', error_class: 'rate_limit' })),
    [NOT_ACTED_ON],
  ),
  replay(
    'omnimarket: work that was left was reported as done',
    [
      heartbeatStep({ checkpoint: { ...checkpoint, created_at: null, completed_work: ['a'], remaining_work: ['b'] } }),
      heartbeatStep({ activity: 'finished' }),
    ],
    [{ ...is('DEGRADED', 'STUCK'), contains: 'leaves 1 piece of work' }],
  ),
];
