import { expect, test } from 'vitest';
import { dashboard } from '../app.fixture.ts';
import { pageOf } from './paging.ts';

type Row = { readonly id: string; readonly at: number };
const keyOf = ({ at, id }: Row) => [-at, id];
const rows: readonly Row[] = [
  { id: 'a', at: 3 },
  { id: 'b', at: 2 },
  { id: 'c', at: 2 },
  { id: 'd', at: 1 },
];

/** The ids of all pages, each read from what `rowsAt` has at its time. */
const read = (limit: number, rowsAt: (page: number) => readonly Row[]): readonly string[][] => {
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const { rows, next } = pageOf('rows', rowsAt(pages.length), keyOf, { limit, cursor });
    pages.push(rows.map(({ id }) => id));
    cursor = next ?? undefined;
  } while (cursor !== undefined);
  return pages;
};

test('pages have each row once, in the order of their keys', () => {
  expect(read(3, () => rows)).toEqual([['a', 'b', 'c'], ['d']]);
  expect(read(2, () => rows.toReversed())).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
});

test('without a limit there is one page', () => {
  expect(pageOf('rows', rows, keyOf, {})).toEqual({ rows, next: null });
});

test('a row that leaves between two pages, also the last one of a page, moves no other row', () => {
  expect(read(2, (page) => (page === 0 ? rows : rows.filter(({ id }) => id !== 'b')))).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
});

test.each(['x', '', 'bnVsbA', 'W251bGxd'])('a cursor that no answer had is refused: %j', async (cursor) => {
  const { request } = dashboard({ tasks: async () => [] });
  expect((await request('GET', `/v1/tasks?limit=1&cursor=${cursor}`)).json()).toMatchObject({
    status: 400,
    type: 'urn:vigil:bad_cursor',
  });
});

test('a cursor of another list is refused, also where its keys have the same form', async () => {
  const { next } = pageOf('alerts', rows, keyOf, { limit: 1 });
  expect(() => pageOf('cases', rows, keyOf, { cursor: next ?? '' })).toThrow('of this list');
  const alerts = rows.map(({ id, at }) => ({ alertId: id, raisedAt: at, resolvedAt: 5 }));
  const { request } = dashboard({ alerts: async () => alerts, cases: async () => [] } as never);
  const first = (await request('GET', '/v1/alerts?limit=1')).json() as { readonly next: string };
  expect(typeof first.next).toBe('string');
  for (const list of ['cases', 'story', 'tasks'])
    expect((await request('GET', `/v1/${list}?limit=1&cursor=${first.next}`)).json()).toMatchObject({
      status: 400,
      type: 'urn:vigil:bad_cursor',
    });
});

test.each([
  ['cases', 'cases', ({ id, at }: Row) => ({ caseId: id, openedAt: at, waiting: false })],
  ['alerts', 'alerts', ({ id, at }: Row) => ({ alertId: id, raisedAt: at, resolvedAt: 5 })],
  [
    'recoveries',
    'recoveries',
    ({ id, at }: Row) => ({ taskId: id, initiatedAt: at, attempt: 1, newAgentId: 'worker-1' }),
  ],
])('the pages of %s reach each of 2,500 rows once, with and without a limit', async (list, field, rowOf) => {
  const all = Array.from({ length: 2500 }, (_, n) => rowOf({ id: `row-${n}`, at: 5000 - n }));
  const reads: { after?: readonly (number | string)[]; limit: number }[] = [];
  const read = async (asked: { after?: readonly (number | string)[]; limit: number }) => {
    reads.push(asked);
    const from = asked.after === undefined ? 0 : 5001 + Number(asked.after.find((part) => Number(part) < -1));
    return all.slice(from, from + asked.limit);
  };
  const { request } = dashboard({ [list]: read });
  for (const limit of ['', '&limit=700']) {
    const found: unknown[] = [];
    let cursor = '';
    do {
      const page = (await request('GET', `/v1/${list}?${cursor}${limit}`)).json();
      found.push(...page[field]);
      cursor = page.next === null ? '' : `cursor=${page.next}`;
    } while (cursor !== '');
    expect(found).toEqual(all);
  }
  expect(Math.max(...reads.map(({ limit }) => limit)), 'a page and one row more').toBe(1001);
});

test.each([['[1]'], ['["a",1,"b"]'], ['[0,1.5,"a"]'], ['[0,1,"a\\u0000"]'], ['[0,1,"a","b"]']])(
  'a cursor of another list is refused before the read model sees it: %s',
  async (key) => {
    const { request, failures } = dashboard({ cases: async () => expect.unreachable() });
    const cursor = Buffer.from(key).toString('base64url');
    expect((await request('GET', `/v1/cases?cursor=${cursor}`)).json()).toMatchObject({ type: 'urn:vigil:bad_cursor' });
    expect(failures).toEqual([]);
  },
);

type ListCase = readonly [path: string, list: string, field: string, rowOf: (n: number) => object];

const PAGED: readonly ListCase[] = [
  ['tasks', 'tasks', 'tasks', (n: number) => ({ taskId: `T-${n}` })],
  ['tickets', 'tickets', 'tickets', (n: number) => ({ ticketId: `t-${n}`, filedAt: null })],
  ['breakers', 'breakers', 'breakers', (n: number) => ({ name: `b-${n}`, agentId: 'a', state: 'OPEN', since: 5 })],
  ['dead-letters', 'deadLetters', 'deadLetters', (n: number) => ({ eventId: `e-${n}`, failedAt: n })],
  ['cases', 'cases', 'cases', (n: number) => ({ caseId: `c-${n}`, openedAt: n, waiting: true })],
  ['alerts', 'alerts', 'alerts', (n: number) => ({ alertId: `a-${n}`, raisedAt: null, resolvedAt: null })],
  ['agents/worker-1/history', 'history', 'history', (n: number) => ({ id: `h-${n}`, kind: 'call', at: n })],
  ['story', 'storyBefore', 'story', (n: number) => ({ eventId: `e-${n}`, at: n, order: 'o' })],
];

test.each(PAGED)(
  '%s: a list of exactly a page has no next one, and one row more has',
  async (path, list, field, rowOf) => {
    const rows: object[] = [];
    const asked: { after?: unknown; before?: unknown; limit: number }[] = [];
    const read = async (query: (typeof asked)[number]) => {
      asked.push(query);
      return rows.slice(0, query.limit);
    };
    const { request } = dashboard({ [list]: read });
    const page = async (query: string) => (await request('GET', `/v1/${path}?limit=3${query}`)).json();
    expect(await page('')).toMatchObject({ [field]: [], next: null });
    rows.push(...[1, 2, 3].map(rowOf));
    const exact = await page('');
    expect(exact[field]).toHaveLength(3);
    expect(exact.next).toBeNull();
    rows.push(rowOf(4));
    const first = await page('');
    expect(first[field]).toHaveLength(3);
    await page(`&cursor=${first.next}`);
    const { after, before } = asked.at(-1) ?? {};
    expect(after ?? before, 'the next page begins after the last row').toEqual(
      list === 'storyBefore' ? { at: 3, order: 'o', eventId: 'e-3' } : expect.arrayContaining([expect.anything()]),
    );
    expect(first.next).not.toBeNull();
  },
);

test.each([...PAGED.map(([path]) => path), 'agents', 'silences', 'runtimes', 'recoveries', 'inbox', 'policies'])(
  '%s: a cursor that no answer had is a problem of status 400',
  async (path) => {
    const empty = async () => [];
    const { request } = dashboard({
      ...Object.fromEntries(PAGED.map(([, list]) => [list, empty])),
      ...{ agents: empty, silences: empty, runtimes: empty, recoveries: empty, requests: empty },
      ...{ policies: empty, policyRefusals: empty, fleet: async () => ({ braked: false }) },
    });
    const answer = await request('GET', `/v1/${path}?cursor=nonsense`);
    expect(answer.headers['content-type']).toContain('application/problem+json');
    expect(answer.json()).toMatchObject({ status: 400, type: 'urn:vigil:bad_cursor', field: 'cursor' });
  },
);

test('a page of the story is in the order of time, and has no order of its rows', async () => {
  const newestFirst = [3, 2].map((at) => ({ eventId: `e-${at}`, at, order: 'o' }));
  const { request } = dashboard({ storyBefore: async () => newestFirst });
  expect((await request('GET', '/v1/story')).json().story).toEqual([
    { eventId: 'e-2', at: 2 },
    { eventId: 'e-3', at: 3 },
  ]);
});

test('tasks are selected by the time of their recovery; cases and alerts by the host and all labels', async () => {
  const asked: object[] = [];
  const read = async (filter: object) => {
    asked.push(filter);
    return [];
  };
  const { request } = dashboard({ tasks: read, cases: read, alerts: read });
  await request('GET', '/v1/tasks?since=10&until=20&agent=worker-1');
  const labels = 'host=build-7&label=team=core&label=tier=1';
  await request('GET', `/v1/cases?${labels}`);
  await request('GET', `/v1/alerts?${labels}`);
  const selected = {
    host: 'build-7',
    labels: [
      ['team', 'core'],
      ['tier', '1'],
    ],
  };
  expect(asked).toMatchObject([{ since: 10, until: 20, agentId: 'worker-1' }, selected, selected]);
});

test('each list takes the filters of its rows, and an unknown one is refused with those that it takes', async () => {
  const asked: object[] = [];
  const read = async (filter: object) => {
    asked.push(filter);
    return [];
  };
  const { request } = dashboard({ tasks: read, cases: read, alerts: read, tickets: read, breakers: read });
  await request('GET', '/v1/cases?state=STUCK&policy=demo');
  await request('GET', '/v1/alerts?state=acknowledged&severity=critical&policy=demo');
  await request('GET', '/v1/tickets?state=waits&severity=high&policy=demo&host=h&label=a=b&task=T-1');
  await request('GET', '/v1/breakers?state=OPEN&policy=demo&host=h&label=a=b&since=5');
  await request('GET', '/v1/tasks?state=STUCK&policy=demo&host=h&label=a=b');
  const ofAgent = { policy: 'demo', host: 'h', labels: [['a', 'b']] };
  expect(asked).toMatchObject([
    { state: 'STUCK', policyName: 'demo' },
    { state: 'acknowledged', severity: 'critical', policy: 'demo' },
    { state: 'waits', severity: 'high', taskId: 'T-1', ...ofAgent },
    { state: 'OPEN', since: 5, ...ofAgent },
    { state: 'STUCK', ...ofAgent },
  ]);
  expect((await request('GET', '/v1/policies?state=STUCK')).json()).toMatchObject({
    status: 400,
    detail: 'query: "state" is unknown here: give one of limit, cursor',
  });
});

/** Questions that wait, in the order of the inbox: two with a deadline, then by the time since when they wait. */
const asking = [
  { caseId: 'c-late', escalationAt: 1, escalationDeadlineAt: 900 },
  { caseId: 'c-soon', escalationAt: 9, escalationDeadlineAt: 500 },
  { caseId: 'c-new', escalationAt: 7, escalationDeadlineAt: null },
  { caseId: 'c-old', escalationAt: 3, escalationDeadlineAt: null },
  { caseId: 'c-same', escalationAt: 3, escalationDeadlineAt: null },
].map((one) => ({
  ...{ ...one, waiting: true, agentId: 'a', taskId: null, evidence: [] },
  ...{ escalationOptions: [], escalationReason: null },
}));

const inboxWith = (cases: readonly object[], agents: readonly { readonly state: string }[] = []) => {
  const empty = async () => [];
  const { request } = dashboard({
    ...{ cases: async () => cases, requests: empty, tasks: empty, tickets: empty, alerts: empty },
    agents: async ({ state }: { readonly state?: string }) =>
      agents.filter((one) => state === undefined || one.state === state),
    fleet: async () => ({ braked: false }),
  });
  return async (query: string) => (await request('GET', `/v1/inbox?${query}`)).json();
};

test('the inbox has pages: each item is on one of them, in its order, also if one has been answered between two pages', async () => {
  const order = ['c-soon', 'c-late', 'c-old', 'c-same', 'c-new'].map((id) => `case/${id}`);
  const idsOf = ({ inbox }: { inbox: readonly { id: string }[] }) => inbox.map(({ id }) => id);
  const page = inboxWith(asking);
  expect(idsOf(await page(''))).toEqual(order);
  for (let limit = 1; limit <= order.length; limit++) {
    const seen: string[] = [];
    for (let next: string | null = ''; next !== null; ) {
      const answer = await page(`limit=${limit}${next === '' ? '' : `&cursor=${next}`}`);
      seen.push(...idsOf(answer));
      next = answer.next;
    }
    expect(seen).toEqual(order);
  }
  const first = await page('limit=2');
  expect([(await page('')).total, first.total]).toEqual([order.length, order.length]);
  const answered = inboxWith(asking.filter(({ caseId }) => caseId !== 'c-late'));
  expect(idsOf(await answered(`limit=2&cursor=${first.next}`))).toEqual(['case/c-old', 'case/c-same']);
});

test('the inbox has filters by the agent of an item, and by the time since when it waits', async () => {
  const agent = (agentId: string, more: object) => ({
    ...{ agentId, policyName: 'demo', host: 'h', state: 'STUCK', labels: { team: 'core' } },
    ...{ waitingFor: null, ...more },
  });
  const agents = [agent('a', {}), agent('b', { host: 'other', policyName: 'vigil', state: 'FAILING', labels: {} })];
  const question = asking[3];
  const page = inboxWith([question, { ...question, caseId: 'c-b', agentId: 'b', escalationAt: 8 }] as object[], agents);
  const idsOf = async (query: string) => {
    const { inbox } = (await page(query)) as { readonly inbox: readonly { readonly id: string }[] };
    return inbox.map(({ id }) => id);
  };
  expect(await idsOf('')).toEqual(['case/c-old', 'case/c-b']);
  for (const query of ['policy=demo', 'host=h', 'state=STUCK', 'label=team=core', 'until=8'])
    expect([query, await idsOf(query)]).toEqual([query, ['case/c-old']]);
  for (const query of ['policy=vigil', 'host=other', 'state=FAILING', 'since=8'])
    expect([query, await idsOf(query)]).toEqual([query, ['case/c-b']]);
  expect(await idsOf('host=nowhere')).toEqual([]);
});

test('an inbox of exactly a page has no next one', async () => {
  const { inbox, next } = await inboxWith(asking)(`limit=${asking.length}`);
  expect([inbox.length, next]).toEqual([asking.length, null]);
});

test('policies have pages by name, each with the newest refusals', async () => {
  const { request } = dashboard({
    policies: async () => ['c', 'a', 'b'].map((name) => ({ name })),
    policyRefusals: async () => [{ name: 'x' }],
  });
  const first = (await request('GET', '/v1/policies?limit=2')).json();
  expect(first).toMatchObject({ policies: [{ name: 'a' }, { name: 'b' }], refusals: [{ name: 'x' }] });
  const second = (await request('GET', `/v1/policies?limit=2&cursor=${first.next}`)).json();
  expect(second).toMatchObject({ policies: [{ name: 'c' }], next: null });
});
