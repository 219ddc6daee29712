import { Topic } from '@vigil/events';
import { expect } from 'vitest';
import { holds, until } from '../../support/system.ts';
import type { Role, Stage } from '../stage.ts';

/** hive's judge and its operator review: tickets by bands of steps, triage, a notification; the worker is never touched. */
export const roles: readonly Role[] = [
  { name: 'circles', part: 'turnsInCircles', policy: 'hive' },
  { name: 'progresses', part: 'failsButProgresses', policy: 'hive' },
  { name: 'broken', part: 'failsForGood', policy: 'hive' },
  { name: 'hung', part: 'hangsInAModelCall', policy: 'hive' },
  { name: 'tooling', part: 'hangsInATool', policy: 'hive' },
  { name: 'judged', part: 'works', policy: 'hive' },
];

const { agentHealth, agentIntervention, agentOrder, alert, stepRuling } = Topic;

const ticketIn = (payload: object): string => (payload as { ticket_id: string }).ticket_id;

/** The routes of the alerts about this agent that people got. */
const routesOf = (received: Stage['received'], name: string): readonly string[] =>
  received
    .of(alert)
    .flatMap(({ type, payload }) => (type === 'ALERT_RAISED' && agentIn(payload) === name ? [payload.route] : []));

/**
 * S4: the operator review dismisses a ticket where the worker makes genuine progress, though the judge has found a loop.
 * A timeout that has resolved itself dismisses none beside an unrecoverable error.
 */
export const progressDismissesTheTicket = async ({ all, comes, received, types, isAlive }: Stage): Promise<void> => {
  const broken = await comes(agentHealth, 'broken', 'WORKER_ESCALATION_TICKET');
  expect(broken.findings).toMatchObject({ unrecoverable: true, transient: false, progressAt: null });
  await until('people are notified of the broken one', async () => routesOf(received, 'broken').length > 0);
  await comes(agentHealth, 'progresses', 'WORKER_ESCALATION_TICKET', 2);
  const tickets = all(agentHealth, 'progresses', 'WORKER_ESCALATION_TICKET');
  expect(tickets.slice(0, 2).map(({ ticket, findings }) => [ticket.severity, findings.loop])).toEqual([
    ['medium', true],
    ['high', true],
  ]);
  const ids = tickets.slice(0, 2).map(({ ticket }) => ticket.ticket_id);
  const outcomes = () =>
    received
      .of(alert)
      .flatMap(({ type, payload }) => (ids.includes(ticketIn(payload)) && type !== 'ALERT_RAISED' ? [type] : []));
  await until('triage has answered both', async () => outcomes().length >= 2);
  await holds(() => expect(outcomes()).toEqual(['TICKET_DISMISSED', 'TICKET_DISMISSED']));
  await holds(() => {
    expect(routesOf(received, 'progresses')).toEqual([]);
    expect(routesOf(received, 'broken'), 'no second alert, of its state').toEqual(['escalation_ticket']);
  });
  expect([...types(agentOrder, 'progresses'), ...types(agentOrder, 'broken')]).toEqual([]);
  expect([isAlive('progresses'), isAlive('broken')]).toEqual([true, true]);
};

/**
 * S4: four minutes without a log entry are a hung model call. The call itself may take ten minutes, which would excuse
 * it here for longer than the run. A tool that may take as long is waited for.
 */
export const hungModelCallIsFound = async ({ all, comes, types, received, isAlive }: Stage): Promise<void> => {
  const { ticket } = await comes(agentHealth, 'hung', 'WORKER_ESCALATION_TICKET');
  expect(ticket).toMatchObject({ severity: 'critical', cause: expect.stringMatching(/^stall: no step for /) });
  await holds(() => expect(all(agentHealth, 'hung', 'HEALTH_STATE_CHANGED').at(-1)).toMatchObject({ to: 'STUCK' }));
  const raised = () =>
    received.of(alert).some(({ type, key }) => type === 'ALERT_RAISED' && key === 'escalation_ticket:T-hung');
  await until('people are notified', async () => raised());
  await holds(() => expect(routesOf(received, 'hung'), 'no second alert, of its state').toEqual(['escalation_ticket']));
  expect(types(agentHealth, 'tooling')).not.toContain('WORKER_ESCALATION_TICKET');
  expect(all(agentHealth, 'tooling', 'HEALTH_STATE_CHANGED').map(({ to }) => to)).not.toContain('STUCK');
  expect(types(agentOrder, 'hung')).toEqual([]);
  expect([isAlive('hung'), isAlive('tooling')]).toEqual([true, true]);
};

const agentIn = (payload: object): unknown => ('agentId' in payload ? payload.agentId : null);
const KEY = 'escalation_ticket:T-circles';

export const ticketTriageNotification = async ({
  all,
  comes,
  types,
  received,
  diary,
  isAlive,
}: Stage): Promise<void> => {
  await comes(agentHealth, 'circles', 'WORKER_ESCALATION_TICKET', 3);
  const tickets = all(agentHealth, 'circles', 'WORKER_ESCALATION_TICKET').map(({ ticket }) => ticket);
  expect(tickets.map(({ severity }) => severity)).toEqual(['medium', 'high', 'critical']);
  const queens = () =>
    received
      .of(alert)
      .flatMap(({ type, payload }) =>
        type === 'QUEEN_INTERVENTION_REQUESTED' && tickets.some(({ ticket_id }) => ticket_id === ticketIn(payload))
          ? [payload]
          : [],
      );
  await until('the operator review requests each', async () => queens().length === 3);
  await holds(() =>
    expect(queens().map((one) => (one as { ticket_id: string }).ticket_id)).toEqual(
      tickets.map(({ ticket_id }) => ticket_id),
    ),
  );
  const raised = () => received.of(alert).filter(({ type, key }) => type === 'ALERT_RAISED' && key === KEY);
  await holds(() => expect(raised(), 'one notification a condition').toHaveLength(1));
  expect(all(agentHealth, 'circles', 'HEALTH_STATE_CHANGED').map(({ to }) => to)).toContain('FAILING');
  expect(routesOf(received, 'circles'), 'no second alert, of its state').toEqual(['escalation_ticket']);
  expect(tickets[2]).toMatchObject({ worker_agent_id: 'circles', stall_minutes: null });
  expect(types(agentOrder, 'circles')).toEqual([]);
  expect(types(agentIntervention, 'circles')).toEqual([]);
  expect(types(stepRuling, 'circles')).toEqual([]);
  expect(diary('circles')).toEqual([expect.stringMatching(/^began/)]);
  expect(isAlive('circles')).toBe(true);
};

export const filedByAJudge = async ({ comes, received, runs, shows, types, isAlive }: Stage): Promise<void> => {
  await comes(Topic.agentObservation, 'judged', 'AGENT_HEARTBEAT');
  await runs('ticket', 'file', 'judged', '--severity', 'low', '--cause', 'slow', '--id', 'j-1');
  const { ticket } = await comes(agentHealth, 'judged', 'WORKER_ESCALATION_TICKET');
  expect(ticket).toMatchObject({ ticket_id: 'j-1', cause: 'slow', judge_reasoning: 'the story decides it' });
  const key = 'escalation_ticket:T-judged';
  const of = () => received.of(alert).flatMap((event) => (event.key === key ? [event.type] : []));
  await holds(() => expect(of()).toEqual(['TICKET_DISMISSED']));
  await shows('ticket j-1: slow; dismissed', 'explain', 'judged');
  await runs('ticket', 'notify', 'j-1', '--urgency', 'high');
  await until('people are notified', async () => of().includes('ALERT_RAISED'));
  await shows('operator asked for by admin (tester), ticket j-1', 'alert', 'list');
  expect(types(agentOrder, 'judged')).toEqual([]);
  expect(isAlive('judged')).toBe(true);
};
