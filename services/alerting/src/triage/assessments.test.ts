import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { runProcessor } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { quiet } from '@vigil/stream/testing';
import { expect, test, vi } from 'vitest';
import { consoleOnly } from '../alert/routing.ts';
import { alertDecider } from '../processors.ts';
import { answeringWith, receiver } from '../sinks/sinks.fixture.ts';
import { assess, runAssessments } from './assessments.ts';
import type { TriageModel } from './model.ts';

const PARTITIONS = 1;
const LIMIT_MS = 60_000;
const KEY = 'escalation_ticket:OMN-1234';
const { ticket: filed } = example(Topic.agentHealth, 'WORKER_ESCALATION_TICKET').payload;
const settings = { groupWaitMs: 3_600_000, endWaitMs: 0, repeatMs: 14_400_000, routing: consoleOnly };

const ticketNotice = (action: 'raise' | 'dismiss' = 'raise', severity: 'high' | 'critical' = 'high') => ({
  ...example(Topic.notify, 'NOTIFY', {
    ...{ action, alertKey: KEY, route: 'escalation_ticket', agentId: 'worker-1', taskId: 'OMN-1234', afterMs: null },
    ...{ groupWaitMs: null, repeatMs: null, channels: ['default'], options: [], requestId: null, caseId: null },
    ...{ filed, ticket: { ticket_id: 't-1', analysis: `severity is ${severity}: it stalls`, severity } },
  }),
  key: KEY,
});
const modelAt = (url: string, timeoutMs = 30_000): TriageModel => ({ url, name: 'small-model', key: null, timeoutMs });
const completion = (opinion: string) => ({
  choices: [{ message: { role: 'assistant', content: JSON.stringify({ opinion, reason: 'it waits for a build' }) } }],
});
const deciding = (log: MemoryLog) =>
  runProcessor(log, alertDecider(settings), { ...quiet, partitions: PARTITIONS, paceMs: 5 });
const asking = (log: MemoryLog, model: TriageModel | null) => runAssessments(log, model, { now: Date.now, ...quiet });
const typesIn = (log: MemoryLog) => log.events(Topic.alert).map(({ type }) => type);

test('the model is asked about a recorded ticket, and its dismissal is applied', async () => {
  await using server = await answeringWith(200, completion('dismiss'));
  const log = new MemoryLog({ partitions: PARTITIONS });
  await using _decider = await deciding(log);
  await using _asking = await asking(log, modelAt(server.url));
  await log.publish(ticketNotice());
  await vi.waitFor(() => expect(typesIn(log)).toContain('TICKET_ASSESSED'), LIMIT_MS);
  expect(typesIn(log)).toEqual([
    ...['QUEEN_INTERVENTION_REQUESTED', 'ALERT_RAISED'],
    ...['TICKET_ASSESSED', 'TICKET_DISMISSED', 'ALERT_RESOLVED'],
  ]);
  expect(server.received).toHaveLength(1);
});

test('a process that ends during a request sends it once more after its start, and the answer is applied once', async () => {
  let isHanging = true;
  await using server = await receiver((_, response) => {
    if (!isHanging) response.writeHead(200).end(JSON.stringify(completion('dismiss')));
  });
  const log = new MemoryLog({ partitions: PARTITIONS });
  await using _decider = await deciding(log);
  const first = await asking(log, modelAt(server.url));
  await log.publish(ticketNotice());
  await vi.waitFor(() => expect(server.received).toHaveLength(1), LIMIT_MS);
  isHanging = false;
  await first[Symbol.asyncDispose]();
  await using _second = await asking(log, modelAt(server.url));
  await vi.waitFor(() => expect(typesIn(log)).toContain('ALERT_RESOLVED'), LIMIT_MS);
  expect(server.received.length).toBeLessThanOrEqual(2);
  expect(typesIn(log).filter((type) => type === 'TICKET_ASSESSED')).toHaveLength(1);
  expect(typesIn(log).filter((type) => type === 'ALERT_RESOLVED')).toHaveLength(1);
});

test('without a model the ticket is decided by the rules alone, and nothing is asked', async () => {
  const log = new MemoryLog({ partitions: PARTITIONS });
  await using _decider = await deciding(log);
  await using running = await asking(log, null);
  await log.publish(ticketNotice());
  await vi.waitFor(() => expect(typesIn(log)).toContain('ALERT_RAISED'), LIMIT_MS);
  expect(running.ready()).toBe(true);
  expect(log.events(Topic.notify).map(({ type }) => type)).toEqual(['NOTIFY']);
});

const asked = async (notice: ReturnType<typeof ticketNotice>, now: number) => {
  await using server = await answeringWith(200, completion('keep'));
  const outcomes = await assess(modelAt(server.url), () => now)(notice as never);
  return { outcomes, requests: server.received.length };
};

test('the answer is a command for the key of the ticket, with the model and the duration', async () => {
  const notice = ticketNotice();
  const { outcomes } = await asked(notice, notice.occurredAt);
  expect(outcomes).toMatchObject([
    {
      ...{ topic: Topic.notify, type: 'ASSESS_TICKET', key: KEY },
      payload: { ticket_id: 't-1', model: 'small-model', outcome: 'answered', opinion: 'keep', durationMs: 0 },
    },
  ]);
});

test('a critical ticket is not asked about, unless the rules dismiss it', async () => {
  const critical = ticketNotice('raise', 'critical');
  expect(await asked(critical, critical.occurredAt)).toEqual({ outcomes: [], requests: 0 });
  const dismissed = ticketNotice('dismiss', 'critical');
  expect((await asked(dismissed, dismissed.occurredAt)).requests).toBe(1);
});

test('a ticket of more than five minutes ago is not asked about, one of five minutes is', async () => {
  const notice = ticketNotice();
  expect((await asked(notice, notice.occurredAt + 300_000)).requests).toBe(1);
  expect(await asked(notice, notice.occurredAt + 300_001)).toEqual({ outcomes: [], requests: 0 });
});
