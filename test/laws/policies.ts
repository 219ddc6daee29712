import { policiesOf, VOCABULARY } from '@vigil/health';
import { loadPolicy, PRESETS, readPolicies } from '@vigil/policy';

const SIGNALS = `
  no_activity: { after: 2m }
  no_heartbeat: { after: 2m }
  looping: { is: repeated_calls, times: 5 }
  crashed: { is: exited, reasons: [crashed, resource_limit, lost] }`;

/**
 * Policies whose plans end in minutes, while those of the presets take hours. `crashed` comes first, as in every preset
 * that recovers.
 */
const quick = (name: string, plan: string, rest = ''): string => `
policy: ${name}
heartbeat: { interval: 30s, lost_after: 15s, trusted_for: 5m }
signals: ${SIGNALS}
states: { STUCK: [no_activity, no_heartbeat, looping] }
exemptions: { starting: { grace: 1m }, awaiting_input: {} }
plans:
  - { when: crashed, do: [recover] }
  - { when: STUCK, do: [${plan}] }
${rest}`;

const END = 'terminate: { grace: 5s, cleanup: 5s }';
const documents = [
  quick('asks', `nudge: { attempts: 1, interval: 1m }, escalate: { timeout: 3m }, ${END}, recover`),
  quick(
    'asks-handoff',
    `handoff: { deadline: 2m }, ${END}, recover`,
    'recovery: { max_attempts: 2, delays: [0s, 60s], on_probation_failure: review }',
  ),
  quick('people', `alert: { severity: warning }, escalate: { timeout: never }, ${END}, recover`),
  quick(
    'pauses',
    `pause: { backoff: 1m }, interrogate: { waits: [30s, 60s] }, ${END}, recover`,
    'recovery: { max_attempts: 2, delays: [0s, 60s] }',
  ),
  quick('ends', `${END}, recover`, 'recovery: { max_attempts: 1, delays: [0s] }'),
];

const presets = readPolicies([PRESETS], VOCABULARY);
const all = [...documents.map((text) => loadPolicy(text, 'laws.yaml', VOCABULARY)), ...presets];

/** Presets whose plans recover crashed agents, and the quick policies. */
export const NAMES = ['asks', 'asks-handoff', 'people', 'pauses', 'ends', 'vigil', 'coditect', 'botbox'] as const;
export type PolicyName = (typeof NAMES)[number];

export const policies = Object.fromEntries(
  NAMES.map((name) => [name, { judging: policiesOf(all, name), policy: all.find((one) => one.name === name) }]),
) as Readonly<
  Record<PolicyName, { readonly judging: ReturnType<typeof policiesOf>; readonly policy: (typeof all)[number] }>
>;
