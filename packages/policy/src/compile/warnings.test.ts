import { expect, test } from 'vitest';
import { load } from '../fixture.ts';

const warned = (sections: string, signals = 'looping: {}, no_activity: { after: 1h }') =>
  load(`{ policy: p, signals: { ${signals} }, ${sections} }`).warnings;
const USED = 'states: { STUCK: [looping, no_activity] }';

test('there is no warning about a policy whose parts are all used and can apply', () => {
  expect(warned(`${USED}, plans: [{ when: looping, do: [{ alert: ops }] }, { when: STUCK, do: [recover] }]`)).toEqual(
    [],
  );
});

test('there is a warning about a limit of absence that one lost heartbeat exceeds', () => {
  const at = (after: string) =>
    warned(`heartbeat: { interval: 1s }, states: { STUCK: [no_activity] }`, `no_activity: { after: ${after} }`);
  expect(at('5s')).toEqual([expect.stringMatching(/^signals\.no_activity\.after: 5 s is not above 5 s/)]);
  expect(at('5001ms')).toEqual([]);
});

test('there is none if one lost heartbeat only makes an agent DEGRADED, unless a plan follows', () => {
  const degraded = (more: string) =>
    warned(`heartbeat: { interval: 1s }, states: { DEGRADED: [no_activity] }${more}`, 'no_activity: { after: 5s }');
  expect(degraded('')).toEqual([]);
  expect(degraded(', plans: [{ when: DEGRADED, do: [recover] }]')).toHaveLength(1);
  expect(degraded(', plans: [{ when: no_activity, do: [recover] }]')).toHaveLength(1);
});

test('there is a warning about a signal that no state, plan or counter-evidence names', () => {
  expect(warned('states: { STUCK: [no_activity] }')).toEqual([
    expect.stringMatching(/^signals\.looping: no state, plan/),
  ]);
  expect(warned('states: { STUCK: [no_activity] }, plans: [{ when: looping, do: [recover] }]')).toEqual([]);
  expect(
    warned('states: { STUCK: [no_activity] }', 'looping: {}, no_activity: { after: 1h, unless: looping }'),
  ).toEqual([]);
});

test('a plan after a more general one can never match', () => {
  expect(
    warned(`${USED}, plans: [{ when: STUCK, do: [recover] }, { when: [looping, STUCK + looping], do: [recover] }]`),
  ).toEqual(['plans[1].when[1]: can never match: plans[0] matches first: move it up, or remove it']);
});

test('a plan with an impossible condition can never match', () => {
  const plan = (when: string, more = '') => warned(`${USED}${more}, plans: [{ when: ${when}, do: [recover] }]`);
  expect(plan('DEGRADED')).toEqual([
    expect.stringMatching(/^plans\[0\]\.when: can never match: nothing makes an agent DEGRADED/),
  ]);
  expect(plan('STUCK + FAILING')).toEqual([expect.stringMatching(/an agent is never STUCK and FAILING at once$/)]);
  expect(plan('idle', ', exemptions: { idle: false }')).toEqual([
    expect.stringMatching(/the exemption idle is switched off$/),
  ]);
  expect(plan('no_activity + idle')).toEqual([expect.stringMatching(/while idle holds, no_activity does not count$/)]);
  expect(plan('looping + idle')).toEqual([]);
});

test('there is a warning about a channel whose name is close to a usual one, and none about other names', () => {
  expect(
    warned(
      `${USED}, plans: [{ when: STUCK, do: [{ alert: slak }] }], alerts: { stuck_agent: { severity: warning, channels: [console, orchestrator] } }`,
    ),
  ).toEqual(["plans[0].do[0].alert: did you mean slack? slak must be in alerting's VIGIL_ALERTS_FILE"]);
});

test('a ticket section without bands and stall files nothing', () => {
  expect(warned(`${USED}, ticket: {}`)).toEqual([expect.stringMatching(/^ticket: has neither/)]);
});

test('there is a warning about each step that notifies people by a route that is turned off', () => {
  const plan =
    'plans: [{ when: STUCK, do: [alert, { alert: ops }, { escalate: { timeout: 1h } }, terminate, recover] }]';
  expect(warned(`${USED}, ${plan}, alerts: { stuck_agent: false }`)).toEqual([
    'plans[0].do[0].alert: alerts.stuck_agent is false, so no one is notified: name a channel',
    'plans[0].do[2].escalate: alerts.stuck_agent is false, so only `vigil inbox` shows the question: write a severity there',
    'plans[0].do[3].terminate: alerts.stuck_agent is false, so no one is notified of an unconfirmed end: write a severity there',
  ]);
  expect(warned(`${USED}, ${plan}, alerts: { stuck_agent: { severity: warning } }`)).toEqual([]);
  expect(warned(`${USED}, ${plan}, alerts: { clock_drift: false }`)).toEqual([]);
});
