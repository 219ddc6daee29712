import { act, heartbeatStep, is, LOOK, type PeerCase, replay, replays, type Step, type Suite, times } from './peer.ts';

const NO = is('HEALTHY');
const STUCK = is('STUCK');
const NUDGE = is('DEGRADED');

const run = (command: string, result: string): Step => act({ tool: 'terminal', args: { command }, result });
const ls = (n: number): Step[] => times(n, () => run('ls', 'a b'));
const commented = (comments: number): Step =>
  heartbeatStep({
    work: { id: 'w', status: 'open', updated_at: null, claim_refreshed_at: null, comment_count: comments },
  });
const textCall = (text: string): Step =>
  act({ tool: 'message', args: { text }, result: '', target: `message ${text}` });
const FILLER = textCall('ok');
const bad: Step = act({
  tool: 'terminal',
  args: 'x',
  result: 'not found',
  outcome: 'error',
  error_class: 'tool_error',
});
const custom = (actions: number, errors: number, monologue: number) => `policy: custom
signals:
  action: { is: repeated_calls, times: ${actions}, cycles: 6, max_cycle: 2, failing_times: ${errors} }
  monologue: { is: same_target, times: ${monologue} }
states: { STUCK: [action, monologue] }
`;

const cases: readonly PeerCase[] = [
  replay('one command', [run('ls', 'a b')], [NO]),
  replay('a loop at the end of a long history', [...times(3, () => FILLER), ...ls(4)], [STUCK]),
  replay('a loop after much talk', [...times(12, () => FILLER), ...ls(4)], [STUCK]),
  replay('a loop and nothing before it', ls(4), [STUCK]),
  replay('three times', ls(3), [NO]),
  replay('four times', ls(4), [STUCK]),
  replay('failing alike: nudged at three, stuck at four', [bad, bad, LOOK, bad, LOOK, bad], [NO, NUDGE, STUCK]),
  replay(
    'three messages that differ',
    times(3, (i) => textCall(`I am thinking ${i}`)),
    [STUCK],
    {
      differs:
        'messages that differ are no repetition; an agent that only talks makes no call, which no_calls limits in time',
    },
  ),
  replay(
    'four commands',
    ['ls', 'pwd', 'whoami', 'date'].map((c) => run(c, `of ${c}`)),
    [NO],
  ),
  replay(
    'a person’s message restarts the count',
    [commented(0), ...ls(4), LOOK, commented(1), LOOK, run('pwd', '/')],
    [STUCK, NO, NO],
  ),
  replay('six instead of four', [...ls(4), LOOK, ...ls(2)], [NO, STUCK], { policy: custom(6, 4, 3) }),
  replays(
    'eight calls, six errors, ten messages',
    [
      { given: [...ls(7), LOOK, ...ls(1)], expected: [NO, STUCK] },
      { given: [...times(5, () => bad), LOOK, bad], expected: [NO, STUCK] },
      { given: [...times(7, () => FILLER), LOOK, ...times(3, () => FILLER)], expected: [NO, STUCK] },
    ].map((one) => ({ ...one, policy: custom(8, 6, 10) })),
  ),
  replay('one nudge at the third failure, stuck at the fourth', [...times(3, () => bad), LOOK, bad], [NUDGE, STUCK]),
  replay('another way after the nudge: not stuck', [...times(3, () => bad), LOOK, textCall('I see')], [NUDGE, NO]),
  replay(
    'nothing new after the nudge: no second one',
    [...times(3, () => bad), LOOK, heartbeatStep({}), LOOK, textCall('I see')],
    [NUDGE, NUDGE, NO],
  ),
];

export const openhandsSdk: Suite = {
  name: 'OpenHands SDK',
  source:
    'OpenHands/software-agent-sdk `tests/cross/test_stuck_detector.py`, `test_stuck_detector_config.py` and `tests/sdk/conversation/local/test_stuck_detector_nudge.py` at 611629e6, MIT',
  policy: `policy: openhands-sdk
signals:
  nudge:     { is: repeated_calls, times: 4, cycles: 3, max_cycle: 2, failing_times: 3 }
  action:    { is: repeated_calls, times: 4, cycles: 3, max_cycle: 2, failing_times: 4 }
  monologue: { is: same_target, times: 3 }
states:
  STUCK: [action, monologue]
  DEGRADED: [nudge]
`,
  read: ['As above. The nudge after three failures is DEGRADED.'],
  cases: cases,
};
