import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type PayloadOf, Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import type { AlertEvent, SinkDeps } from '../delivery/sink.ts';

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

export const LINK_KEY = 'a-key-for-tests-only-of-some-length';

export const sinkDeps: SinkDeps = {
  now: Date.now,
  env: { VIGIL_WEBHOOK_SECRET: SECRET },
  dashboardUrl: 'http://127.0.0.1:7420',
  linkKey: LINK_KEY,
  linearChannels: [],
};

const checkpoint = example(Topic.agentIntervention, 'ESCALATION_TRIGGERED').payload.checkpoint;

/** An alert as sinks receive it. It has no question unless a field sets one. */
export const alertEvent = (fields: Partial<PayloadOf<typeof Topic.alert, 'ALERT_RAISED'>> = {}): AlertEvent =>
  example(Topic.alert, 'ALERT_RAISED', {
    ...{
      route: 'stuck_agent',
      severity: 'warning',
      title: 'worker-1 is STUCK',
      text: 'no call',
      options: [],
      questions: [],
    },
    ...{
      deadlineAt: null,
      onTimeout: null,
      checkpoint: null,
      blocked: null,
      requestId: null,
      itemId: null,
      askedAt: null,
      isPardoned: false,
      raisedAt: EXAMPLE_TIME,
      ...fields,
    },
  });

/** A case that waits for a decision. */
export const escalation = (more: Parameters<typeof alertEvent>[0] = {}): AlertEvent =>
  alertEvent({
    ...{ severity: 'critical', options: ['allow_more_time', 'pardon'], onTimeout: 'terminate' },
    ...{ deadlineAt: EXAMPLE_TIME + 900_000, checkpoint },
    ...more,
  });

/** A ticket that people should review. */
export const ticketAlert = (): AlertEvent =>
  alertEvent({ route: 'escalation_ticket', title: 'worker-1: high ticket', caseId: null, itemId: 'ticket/t-1' });

/** A task that is left to people. */
export const blockedAlert = (): AlertEvent =>
  alertEvent({ route: 'task_blocked', title: 'OMN-1234 is blocked: it waits for a person', itemId: 'task/OMN-1234' });

/** The brake is engaged. */
export const brakeAlert = (): AlertEvent =>
  alertEvent({
    ...{ route: 'fleet_brake', title: '8 agents went at once', agentId: null, taskId: null, caseId: null },
    itemId: 'brake',
  });

/** A request of an agent that waits for an answer. */
export const permissionRequest = (): AlertEvent =>
  alertEvent({
    ...{ route: 'awaiting_input', title: 'worker-1 asks for a permission', caseId: null, requestId: 'r-1' },
    itemId: 'request/r-1',
    ...{ options: ['allow', 'deny'], deadlineAt: EXAMPLE_TIME + 600_000, onTimeout: 'no_decision' },
  });

/** One question of an agent, whose choices are numbered. */
export const numberedQuestion = (): AlertEvent => {
  const options = ['Login', 'Search'].map((label) => ({ label, description: null, preview: null }));
  const question = { name: 'Method', header: 'Method', text: 'Which?', isMultiple: false, options };
  return alertEvent({
    ...{ route: 'awaiting_input', title: 'worker-1 asks a question', caseId: null, requestId: 'r-1' },
    ...{ options: ['1', '2'], deadlineAt: EXAMPLE_TIME + 600_000, onTimeout: 'no_decision', questions: [question] },
  });
};

/** Two questions of an agent that wait for an answer to each. */
export const severalQuestions = (): AlertEvent => {
  const options = ['Login', 'Search'].map((label) => ({ label, description: null, preview: null }));
  const asked = { text: 'Which?', options };
  return alertEvent({
    ...{ route: 'awaiting_input', title: 'worker-1 asks 2 questions', caseId: null, requestId: 'r-1' },
    ...{ options: [], deadlineAt: EXAMPLE_TIME + 600_000, onTimeout: 'no_decision' },
    questions: [
      { ...asked, name: 'Method', header: 'Method', isMultiple: false },
      { ...asked, name: 'Features', header: 'Features', isMultiple: true },
    ],
  });
};

/** The answer to a question: its options go, without a noise. */
export const answeredEvent = (fields: Partial<PayloadOf<typeof Topic.alert, 'ALERT_UPDATED'>> = {}): AlertEvent => {
  const { alertId } = alertEvent().payload;
  return example(Topic.alert, 'ALERT_UPDATED', {
    ...{
      alertId,
      route: 'stuck_agent',
      title: 'worker-1: pardon, decided by ada',
      options: [],
      questions: [],
      requestId: null,
      itemId: null,
      askedAt: null,
    },
    ...{ severity: 'critical', blocked: null, raisedAt: EXAMPLE_TIME, isQuiet: true, isPardoned: true },
    ...fields,
  });
};

/** Another count of a group, without a noise. */
export const countEvent = (fields: Partial<PayloadOf<typeof Topic.alert, 'ALERT_UPDATED'>> = {}): AlertEvent =>
  answeredEvent({ route: 'alert_group', title: '40 agents are STUCK or FAILING', isPardoned: false, ...fields });

/** The end of an alert, under the id of its start. */
export const resolvedEvent = (fields: Partial<PayloadOf<typeof Topic.alert, 'ALERT_RESOLVED'>> = {}): AlertEvent =>
  example(Topic.alert, 'ALERT_RESOLVED', {
    ...{ route: 'stuck_agent', severity: 'warning', title: 'worker-1 is STUCK: over', text: 'worker-1 is HEALTHY' },
    ...{ alertId: alertEvent().payload.alertId, raisedAt: EXAMPLE_TIME },
    ...fields,
  });

export type Received = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

/** A server on loopback that records requests, and answers as a test sets. */
export const receiver = async (answer: (request: Received, response: ServerResponse) => void) => {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const one = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() };
    received.push(one);
    answer(one, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async () => {
    server.closeAllConnections();
    server.close();
  };
  return { received, url, server, [Symbol.asyncDispose]: close };
};

/** Answers each request with a status and JSON. */
export const answeringWith = (status: number, body: object, headers: Record<string, string> = {}) =>
  receiver((_, response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body)),
  );

/** The error of a delivery; null: it succeeded. */
export const failureOf = (delivery: Promise<void>): Promise<unknown> =>
  delivery.then(
    () => null,
    (error: unknown) => error,
  );
