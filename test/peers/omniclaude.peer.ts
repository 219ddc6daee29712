import { T0 } from '@vigil/health/fixture';
import {
  act,
  heartbeatStep,
  is,
  MIN,
  outside,
  type PeerCase,
  replay,
  replays,
  SEC,
  type Step,
  type Suite,
  wait,
} from './peer.ts';

const HEALTHY = is('HEALTHY');
const stalled = (plan: string) => ({ ...is('STUCK'), plan });
const CALL: Step = act({ tool: 'Read' });
/** A call, and then nothing for this long. */
const idle = (minutes: number): Step[] => [CALL, wait(minutes * MIN)];
const context = (used: number) => ({ context: { tokens_used: used, tokens_max: 200_000 } });
const errors = (...messages: readonly string[]) => ({
  errors: messages.map((message) => ({ at: T0, count: 1, error_class: null, hash: message, message })),
});
const limited = errors('429 Too Many Requests');
const POLICY = (after: string) => `policy: omniclaude
signals:
  no_calls: { after: ${after} }
  context_exhausted: { above: 0.80 }
  rate_limited: {}
states:
  STUCK: [no_calls, context_exhausted, rate_limited]
exemptions:
  rate_limited: false
  call_in_flight: false
plans: # the first that holds is the reason
  - { when: no_calls, do: [alert: ops] }
  - { when: context_exhausted, do: [alert: ops] }
  - { when: rate_limited, do: [alert: ops] }
`;

const SKILL = 'the content of the files of a skill';
const CHECKPOINT = 'how its recovery file is written: services/recovery writes ours';

const cases: readonly PeerCase[] = [
  ...outside(
    SKILL,
    ...['the file', 'its fields', 'its mode', 'its category', 'its flag', 'heuristics', 'recovery', 'checkpoints'],
    ...['its outputs', 'its topics', 'the caller names it', 'and its ticket', 'and its heuristics'],
  ),
  replay('no call for 15 minutes', idle(15), [{ ...stalled('no_calls'), contains: 'no call for 15 min' }]),
  replay('no call for 3 minutes', idle(3), [HEALTHY]),
  replay('no call for exactly 10 minutes', idle(10), [HEALTHY]),
  replays('the limit is a setting', [
    { given: idle(8), expected: [stalled('no_calls')], policy: POLICY('5m') },
    { given: idle(8), expected: [HEALTHY] },
  ]),
  replay('85 % of the context', [CALL, heartbeatStep(context(170_000))], [stalled('context_exhausted')]),
  replay('50 % of the context', [CALL, heartbeatStep(context(100_000))], [HEALTHY]),
  replay('exactly 80 % of the context', [CALL, heartbeatStep(context(160_000))], [HEALTHY]),
  replay('a rate limit', [CALL, heartbeatStep(limited)], [stalled('rate_limited')]),
  replay('no errors', [CALL, heartbeatStep(errors())], [HEALTHY]),
  replay('another error', [CALL, heartbeatStep(errors('ConnectionError: timeout'))], [HEALTHY]),
  replay(
    'two rate limits among three errors',
    [CALL, heartbeatStep(errors('rate limit exceeded', '429 Too Many Requests', 'ConnectionError: timeout'))],
    [stalled('rate_limited')],
  ),
  replay(
    'inactivity comes first',
    [...idle(15), heartbeatStep({ ...context(190_000), ...limited })],
    [stalled('no_calls')],
  ),
  replay(
    'the context of one that is active',
    [...idle(2), heartbeatStep(context(190_000))],
    [stalled('context_exhausted')],
  ),
  replay('nothing of it', [...idle(2), heartbeatStep(context(50_000))], [{ ...HEALTHY, plan: null }]),
  ...outside(CHECKPOINT, 'the file', 'its name', 'without work done', 'several of one ticket'),
  replay(
    'the whole, for inactivity',
    [CALL, heartbeatStep(context(120_000)), wait(15 * MIN - 5 * SEC)],
    [stalled('no_calls')],
  ),
  replay('the whole, for the context', [CALL, heartbeatStep(context(180_000))], [stalled('context_exhausted')]),
];

export const omniclaude: Suite = {
  name: 'omniclaude',
  source: 'OmniNode-ai/omniclaude `tests/unit/skills/test_agent_healthcheck.py` at bc0aad3c, MIT',
  policy: POLICY('10m'),
  read: ['Stalled is STUCK, its reason the plan that holds.'],
  cases,
};
