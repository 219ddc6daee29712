import { createHash } from 'node:crypto';
import { type DecisionLink, LONGEST_LINK_MS, signLink } from '@vigil/chassis/decision-link';
import { Topic } from '@vigil/events';
import { MemoryLog } from '@vigil/stream/memory';
import { describe, expect, test } from 'vitest';
import { dashboard, LINK_KEY } from '../app.fixture.ts';
import { openCommandWriter } from '../commands/command-writer.ts';

const NOON = Date.UTC(2026, 10, 22, 12);
const link: DecisionLink = {
  ...{ kind: 'decide_case', subject: 'case-1', decision: 'pardon', channel: 'ops' },
  ...{ deadlineAt: NOON + 900_000, sentAt: NOON + 1000 },
};
const asking = {
  ...{
    caseId: 'case-1',
    agentId: 'worker-1',
    taskId: 'T-1',
    state: 'STUCK',
    closedAt: null,
    ending: null,
    waiting: true,
  },
  ...{ escalationReason: 'no <b>call</b>\u202e\u200b', escalationAt: NOON, escalationDeadlineAt: NOON + 900_000 },
  escalationOptions: ['allow_more_time', 'terminate_and_recover', 'pardon'],
  ...{ decision: null, decisionBy: null, decisionAt: null },
};

const opened = (row: object | null = asking, answers: object = {}) => {
  const one = dashboard({ case: async (id: string) => (id === 'case-1' ? row : null), ...answers });
  one.clock.now = NOON + 2000;
  const addressOf = async (fields: Partial<DecisionLink> = {}, key = LINK_KEY) =>
    `/v1/decision?link=${await signLink(key, { ...link, ...fields })}`;
  const get = async (fields?: Partial<DecisionLink>, key?: string) =>
    one.app.inject({ url: await addressOf(fields, key), headers: { accept: 'text/html' } });
  const post = async (payload: object | undefined = undefined, fields?: Partial<DecisionLink>, key?: string) =>
    one.app.inject({ method: 'POST', url: await addressOf(fields, key), ...(payload && { payload }) });
  return { ...one, addressOf, get, post };
};

test('a GET shows the question and changes nothing, however often it is followed', async () => {
  const { get, written } = opened();
  for (let i = 0; i < 3; i++) {
    const answer = await get();
    expect(answer.statusCode).toBe(200);
    expect(answer.body).toContain('<form method="post">');
  }
  expect(written).toEqual([]);
});

test('the page explains what happens after the decision', async () => {
  const { body } = await opened().get({ decision: 'pardon' });
  expect(body).toContain('Closes the case without a step');
  expect(body).not.toContain('Vigil waits for a decision.');
});

test('an answer that Kafka does not acknowledge in time is answered 504, as a page', async () => {
  const never = openCommandWriter({
    ...{ log: new MemoryLog(), limitMs: 50, newEventId: () => 'event-1', onFailure: () => {} },
    writer: { writeNamed: () => new Promise(() => {}) },
  });
  const one = dashboard({ case: async () => asking }, '/no-page', { commands: never });
  one.clock.now = NOON + 2000;
  const url = `/v1/decision?link=${await signLink(LINK_KEY, link)}`;
  const asJson = await one.app.inject({ method: 'POST', url });
  expect(asJson.json()).toMatchObject({ status: 504, type: 'urn:vigil:not_acknowledged', eventId: 'event-1' });
  const asPage = await one.app.inject({ method: 'POST', url, headers: { accept: 'text/html' } });
  expect([asPage.statusCode, asPage.body.includes('may still be applied')]).toEqual([504, true]);
});

test('so does a HEAD', async () => {
  const { app, addressOf, written } = opened();
  expect((await app.inject({ method: 'HEAD', url: await addressOf() })).statusCode).toBe(200);
  expect(written).toEqual([]);
});

test('the page escapes what agents wrote, and leaves out what turns text around', async () => {
  const { body } = await opened().get();
  expect(body).toContain('no &lt;b&gt;call&lt;/b&gt;');
  expect(body).not.toMatch(/<b>|\u202e|\u200b/);
});

test('the page runs no script, has its own style only, sends its form to this site only, is in no frame, and gives its address to no site', async () => {
  const { headers, body } = await opened().get();
  const style = /<style>([^<]*)<\/style>/.exec(body)?.[1] ?? '';
  const hash = createHash('sha256').update(style).digest('base64');
  expect(headers).toMatchObject({
    'content-security-policy': `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
});

test('a POST decides without a token; the event names the channel, the claimed name and the question', async () => {
  const { post, written } = opened();
  const answer = await post({ by: 'ada', why: 'it works' });
  expect(answer.statusCode).toBe(202);
  expect(answer.json()).toMatchObject({ eventId: 'event-1', type: 'DECIDE_CASE', by: 'link to ops (ada)' });
  const payload = {
    caseId: 'case-1',
    agentId: 'worker-1',
    decision: 'pardon',
    by: 'link to ops (ada)',
    why: 'it works',
  };
  const question = { deadlineAt: NOON + 900_000 };
  expect(written).toMatchObject([{ topic: Topic.decideCase, type: 'DECIDE_CASE', payload: { ...payload, question } }]);
});

test('the form of the page decides too, and its answer is a page', async () => {
  const { app, addressOf, written } = opened();
  const answer = await app.inject({
    ...{ method: 'POST', url: await addressOf(), payload: 'why=seen+it' },
    headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
  });
  expect(answer.statusCode).toBe(202);
  expect(answer.body).toContain('link to ops');
  expect(written).toMatchObject([{ payload: { by: 'link to ops', why: 'seen it' } }]);
});

test('a second use is refused with who has sent an answer, and claims no outcome, also of another choice of the question', async () => {
  const { post, written } = opened();
  await post({ by: 'ada' });
  for (const decision of ['pardon', 'allow_more_time']) {
    const again = await post({}, { decision });
    expect(again.json()).toMatchObject({
      ...{ status: 409, type: 'urn:vigil:already_answered' },
      detail: expect.stringContaining(
        'link to ops (ada) has sent the answer pardon at 2026-11-22 12:00:02 UTC. Whether that answer was the first is not known yet',
      ),
    });
  }
  expect(written).toHaveLength(1);
});

test('two uses at once are one answer', async () => {
  const { post, written } = opened();
  const statuses = (await Promise.all([post(), post(), post()])).map(({ statusCode }) => statusCode);
  expect(statuses.toSorted()).toEqual([202, 409, 409]);
  expect(written).toHaveLength(1);
});

test('another instance, or one that has restarted, refuses what the read model shows as answered', async () => {
  const decided = {
    ...asking,
    waiting: false,
    decision: 'allow_more_time',
    decisionBy: 'ada',
    decisionAt: NOON + 1500,
  };
  for (const row of [decided, { ...decided, closedAt: NOON + 1600, ending: 'pardoned' }]) {
    const { post, get, written } = opened(row);
    expect((await post()).json()).toMatchObject({
      status: 409,
      detail: 'ada has answered allow_more_time at 2026-11-22 12:00:01 UTC.',
    });
    const page = await get();
    expect(page.statusCode).toBe(409);
    expect(page.body).toContain('ada has answered');
    expect(page.body).not.toContain('<form');
    expect(written).toEqual([]);
  }
});

test('a case that its deadline decided takes no answer', async () => {
  const { post, written } = opened({ ...asking, waiting: false, closedAt: NOON + 1600, ending: 'recovered' });
  expect((await post()).json()).toMatchObject({
    status: 409,
    detail: expect.stringContaining('is closed (recovered)'),
  });
  expect(written).toEqual([]);
});

test.each([
  ['another deadline', { escalationDeadlineAt: NOON + 1_800_000 }],
  ['no deadline', { escalationDeadlineAt: null }],
])('a link of an earlier question answers none with %s', async (_, fields) => {
  const { post, written } = opened({ ...asking, ...fields });
  expect((await post()).json()).toMatchObject({ status: 410, type: 'urn:vigil:another_question' });
  expect(written).toEqual([]);
});

test('without a deadline the time decides: the clocks of two brokers may differ by five seconds', async () => {
  for (const [later, status] of [
    [5000, 202],
    [5001, 410],
  ] as const) {
    const { post, written } = opened({ ...asking, escalationDeadlineAt: null, escalationAt: NOON + 1000 + later });
    expect((await post({}, { deadlineAt: null })).statusCode).toBe(status);
    expect(written).toHaveLength(status === 202 ? 1 : 0);
  }
});

test.each([
  ['decision', 'allow_more_time'],
  ['caseId', 'case-2'],
  ['taskId', 'T-1'],
  ['kind', 'review_task'],
  ['kind', 'halt'],
])('a link is for its own choice and case: %s %s is refused', async (field, value) => {
  const { post, written, refusals } = opened();
  expect((await post({ [field]: value })).json()).toMatchObject({ status: 403, field });
  expect(refusals).toMatchObject([{ principal: null, status: 403 }]);
  expect(written).toEqual([]);
});

test('the body of the alert is accepted as it is', async () => {
  const body = { kind: 'decide_case', caseId: 'case-1', decision: 'pardon', by: '', why: '' };
  expect((await opened().post(body)).statusCode).toBe(202);
});

test.each([[{ forMs: 5 }], [{ why: 1 }], [['pardon']]])('the answer %j is refused', async (body) => {
  const { post, written } = opened();
  expect((await post(body)).statusCode).toBe(400);
  expect(written).toEqual([]);
});

test('a link expires with its question, or after a day', async () => {
  const { post, written, clock } = opened({ ...asking, escalationDeadlineAt: null });
  clock.now = NOON + 900_000;
  expect((await post()).json()).toMatchObject({ status: 410, type: 'urn:vigil:link_expired' });
  clock.now = NOON + 1000 + LONGEST_LINK_MS;
  expect((await post({}, { deadlineAt: null })).statusCode).toBe(410);
  expect(written).toEqual([]);
  clock.now -= 1;
  expect((await post({}, { deadlineAt: null })).statusCode).toBe(202);
});

test('a link of another key is refused, and the refusal has the address of the caller', async () => {
  const { post, written, refusals } = opened();
  expect((await post({}, {}, `${LINK_KEY}x`)).json()).toMatchObject({ status: 403, type: 'urn:vigil:invalid_link' });
  expect(refusals).toMatchObject([{ principal: null, status: 403, address: '127.0.0.1' }]);
  expect(written).toEqual([]);
});

test('a missing link, and a link to an unknown case, are problems', async () => {
  const { app, post } = opened();
  expect((await app.inject({ url: '/v1/decision' })).statusCode).toBe(400);
  expect((await app.inject({ url: '/v1/decision?link=a&link=b' })).statusCode).toBe(400);
  expect((await post({}, { subject: 'case-2' })).statusCode).toBe(404);
});

test('a link opens no other route', async () => {
  const { app } = opened();
  const token = await signLink(LINK_KEY, link);
  for (const url of ['/v1/cases', `/v1/cases/case-1?link=${token}`]) {
    const answer = await app.inject({ url, headers: { authorization: `Bearer ${token}` } });
    expect(answer.statusCode).toBe(401);
  }
});

test('an answer that cannot be written can be given again', async () => {
  let isBroken = true;
  const { post, written } = opened(asking, {
    case: async () => {
      if (isBroken) throw new Error('the database is away');
      return asking;
    },
  });
  expect((await post()).statusCode).toBe(500);
  isBroken = false;
  expect((await post()).statusCode).toBe(202);
  expect(written).toHaveLength(1);
});

describe('a review of a task', () => {
  const review = { kind: 'review_task', subject: 'T-1', decision: 'retry', deadlineAt: null } as const;
  const waits = { taskId: 'T-1', recovery: 'REVIEW_REQUIRED', recoveryAt: NOON, recoveryReason: 'three attempts' };

  test('is answered once', async () => {
    const { post, written } = opened(null, { task: async () => waits });
    expect((await post({}, review)).statusCode).toBe(202);
    expect((await post({}, { ...review, decision: 'abandon' })).statusCode).toBe(409);
    expect(written).toMatchObject([
      { type: 'REVIEW_TASK', payload: { taskId: 'T-1', decision: 'retry', by: 'link to ops' } },
    ]);
  });

  test('that is over names who has answered', async () => {
    const payload = { decision: 'abandon', by: 'ada' };
    const { post, written } = opened(null, {
      task: async () => ({ ...waits, recovery: 'REVIEW_DECIDED' }),
      story: async () => [{ type: 'REVIEW_DECIDED', at: NOON, payload }],
    });
    expect((await post({}, review)).json()).toMatchObject({
      status: 409,
      detail: 'ada has answered abandon at 2026-11-22 12:00:00 UTC.',
    });
    expect(written).toEqual([]);
  });

  test('that began after the alert is another one', async () => {
    const { post } = opened(null, { task: async () => ({ ...waits, recoveryAt: NOON + 6001 }) });
    expect((await post({}, review)).statusCode).toBe(410);
  });
});

describe('a request of an agent', () => {
  const deadlineAt = NOON + 600_000;
  const request = { kind: 'answer_request', subject: 'r-1', decision: 'allow', deadlineAt } as const;
  const waits = {
    ...{ requestId: 'r-1', agentId: 'worker-1', instanceId: 'i-1', taskId: 'T-1', text: 'Bash: rm -rf build' },
    ...{ openedAt: NOON, deadlineAt, settled: null, settledBy: null, settledOption: null, settledWhy: null },
    options: [
      { name: 'allow', label: 'Allow' },
      { name: 'deny', label: 'Deny' },
    ],
  };
  const asked = (row: object = waits) =>
    opened(null, { request: async (id: string) => (id === 'r-1' ? { ...waits, ...row } : null) });

  test('is shown, and answered once, for its own instance', async () => {
    const { get, post, written } = asked();
    expect((await get(request)).body).toContain('Bash: rm -rf build');
    expect(written).toEqual([]);
    expect((await post({ kind: 'answer_request', requestId: 'r-1', option: 'allow' }, request)).statusCode).toBe(202);
    expect((await post({}, { ...request, decision: 'deny' })).json()).toMatchObject({
      status: 409,
      detail: expect.stringContaining('link to ops has sent the answer allow'),
    });
    expect(written).toMatchObject([
      {
        ...{ topic: Topic.handleRequest, type: 'ANSWER_REQUEST' },
        payload: { requestId: 'r-1', instanceId: 'i-1', option: 'allow', by: 'link to ops' },
      },
    ]);
  });

  const question = {
    ...{ kind: 'question', text: 'Which database?' },
    options: [
      { name: '1', label: 'Postgres' },
      { name: '2', label: 'SQLite <one file>' },
    ],
  };

  test('with numbered choices has the words of the choice as its heading and on its button, also after the answer', async () => {
    const { app, addressOf, get, written } = asked(question);
    const second = { ...request, decision: '2' };
    const { body } = await get(second);
    const words = 'Answer SQLite &lt;one file&gt;';
    expect(body).toContain(`<title>${words}?</title>`);
    expect(body).toContain(`<h1>${words}?</h1><p>worker-1 asks: Which database?</p>`);
    expect(body).toContain(`<button>${words}</button>`);
    const post = async (fields: object) =>
      app.inject({ method: 'POST', url: await addressOf(fields), headers: { accept: 'text/html' } });
    expect((await post(second)).body).toContain(`<h1>${words}</h1>`);
    expect(written).toMatchObject([{ payload: { option: '2' } }]);
    expect((await post({ ...request, decision: '1' })).body).toContain(
      'has sent the answer SQLite &lt;one file&gt; at',
    );
    for (const page of [body, (await post(second)).body]) expect(page).not.toMatch(/>2\??</);
  });

  test('with numbered choices that is over has the words of the first answer; a permission has the words of its client', async () => {
    const over = { ...question, settled: 'answered', settledBy: 'ada', settledOption: '1' };
    expect((await asked(over).get(request)).body).toContain('ada has answered Postgres: the first answer decides.');
    const options = [{ name: 'allow', label: 'Yes, and do_not ask again' }];
    expect((await asked({ kind: 'permission', options }).get(request)).body).toContain(
      '<button>Yes, and do_not ask again</button>',
    );
    expect((await asked().get(request)).body).toContain('<button>Allow</button>');
  });

  test.each([
    [{ settled: 'answered', settledBy: 'ada', settledOption: 'deny' }, 'ada has answered deny'],
    [{ settled: 'withdrawn', settledWhy: 'its client answered' }, 'is withdrawn: its client answered'],
    [{ settled: 'expired' }, 'is expired'],
  ])('that is over as %j is refused with the reason', async (row, reason) => {
    const { get, post, written } = asked(row);
    for (const answer of [await post({}, request), await get(request)]) {
      expect(answer.statusCode).toBe(409);
      expect(answer.body).toContain(reason);
    }
    expect(written).toEqual([]);
  });

  test('takes no answer after its deadline, to another request, or of another choice', async () => {
    const { post, clock, written } = asked();
    expect((await post({}, { ...request, subject: 'r-2' })).statusCode).toBe(404);
    expect((await post({ option: 'deny' }, request)).statusCode).toBe(403);
    expect((await post({ requestId: 'r-2' }, request)).statusCode).toBe(403);
    expect((await post({}, { ...request, decision: 'always' })).statusCode).toBe(400);
    expect((await post({}, { ...request, deadlineAt: deadlineAt + 1000 })).statusCode).toBe(410);
    clock.now = deadlineAt;
    expect((await post({}, request)).json()).toMatchObject({ status: 410, type: 'urn:vigil:link_expired' });
    expect(written).toEqual([]);
  });
});

describe('the alert of a ticket', () => {
  const acknowledgement = {
    kind: 'acknowledge',
    subject: 'alert-1',
    decision: 'acknowledge',
    deadlineAt: null,
  } as const;
  const alert = {
    ...{ alertId: 'alert-1', alertKey: 'escalation_ticket:T-1', title: 'worker-1: high ticket', text: 'a loop' },
    ...{ raisedAt: NOON, resolvedAt: null, acknowledgedAt: null, acknowledgedBy: null },
  };
  const openedWith = (more: object = {}) => opened(asking, { alerts: async () => [{ ...alert, ...more }] });

  test('is acknowledged once, with the channel as its sender', async () => {
    const { get, post, written } = openedWith();
    expect((await get(acknowledgement)).body).toContain('a loop');
    const body = { kind: 'acknowledge', alertId: 'alert-1', by: 'ada' };
    expect((await post(body, acknowledgement)).statusCode).toBe(202);
    const payload = { alertKey: alert.alertKey, by: 'link to ops (ada)' };
    expect(written).toMatchObject([{ topic: Topic.controlAlerts, type: 'ACKNOWLEDGE_ALERT', payload }]);
    expect((await post(body, acknowledgement)).statusCode).toBe(409);
    expect(written).toHaveLength(1);
  });

  test.each([
    [{ acknowledgedAt: NOON, acknowledgedBy: 'bob' }, 'was acknowledged by bob'],
    [{ resolvedAt: NOON }, 'is resolved already'],
  ])('with %j is refused with the reason', async (more, why) => {
    const { get, post, written } = openedWith(more);
    const answer = await post({}, acknowledgement);
    expect([answer.statusCode, answer.json().detail]).toEqual([409, expect.stringContaining(why)]);
    expect((await get(acknowledgement)).statusCode).toBe(409);
    expect(written).toEqual([]);
  });

  test('is not acknowledged by the body of another alert', async () => {
    const { post, written } = openedWith();
    expect((await post({ alertId: 'alert-2' }, acknowledgement)).statusCode).toBe(403);
    expect(written).toEqual([]);
  });
});
