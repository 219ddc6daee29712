import { expect, test } from 'vitest';
import { dashboard } from '../app.fixture.ts';
import { MOST_WAITS } from './outcomes.ts';

const entry = { eventId: 'e1', at: 5, agentId: null, taskId: null, caseId: null, type: 'FLEET_HALTED', payload: {} };

const ID = '0190c1d2-0000-7000-8000-00000000000a';

/** A dashboard whose command `ID` is answered when the test decides so. */
const opened = () => {
  const answers: object[] = [];
  const one = dashboard({ outcomes: async (id: string) => (id === ID ? [...answers] : []) });
  const change = (table: string, id: string) => {
    for (const listener of one.changeListeners) listener([[table, id]]);
  };
  const ask = (url: string, token = 'viewer') => one.app.inject({ url, headers: { authorization: `Bearer ${token}` } });
  return { ...one, answers, change, ask };
};

test('the outcome of a command is there at once, without a wait', async () => {
  const { ask, answers } = opened();
  expect((await ask(`/v1/commands/${ID}`)).json()).toEqual({
    eventId: ID,
    outcome: 'pending',
    reason: null,
    until: null,
    events: [],
    knowledge: { upTo: 900, blindSince: null, away: [] },
  });
  answers.push(entry);
  expect((await ask(`/v1/commands/${ID}`)).json()).toMatchObject({ outcome: 'applied', events: [entry] });
});

test('a wait ends when the outcome is there, whether by its own row or by the case of the request', async () => {
  for (const [table, id] of [
    ['outcomes', ID],
    ['cases', `case-${ID}`],
  ] as const) {
    const { ask, answers, change, changeListeners } = opened();
    const answer = ask(`/v1/commands/${ID}?wait=30`);
    while (changeListeners.size === 0) await new Promise(setImmediate);
    answers.push(entry);
    change(table, id);
    expect((await answer).json().outcome).toBe('applied');
    expect(changeListeners.size).toBe(0);
  }
});

test('a wait without an outcome ends at its time, as pending', async () => {
  expect((await opened().ask(`/v1/commands/${ID}?wait=0.05`)).json().outcome).toBe('pending');
});

test('a wait ends with the service', async () => {
  const { ask, changeListeners, stop } = opened();
  const answer = ask(`/v1/commands/${ID}?wait=30`);
  while (changeListeners.size === 0) await new Promise(setImmediate);
  stop.abort();
  expect((await answer).json().outcome).toBe('pending');
});

test(`a caller waits for ${MOST_WAITS} outcomes at once; the next is refused until one has arrived, and other callers have theirs`, async () => {
  const { ask, answers, change, changeListeners } = opened();
  const waits = Array.from({ length: MOST_WAITS }, () => ask(`/v1/commands/${ID}?wait=30`));
  while (changeListeners.size < MOST_WAITS) await new Promise(setImmediate);
  expect((await ask(`/v1/commands/${ID}?wait=30`)).json()).toMatchObject({
    status: 429,
    type: 'urn:vigil:too_many_waits',
  });
  const ofOther = ask(`/v1/commands/${ID}?wait=30`, 'responder');
  while (changeListeners.size < MOST_WAITS + 1) await new Promise(setImmediate);
  answers.push(entry);
  change('outcomes', ID);
  for (const answer of [...waits, ofOther]) expect((await answer).statusCode).toBe(200);
  expect((await ask(`/v1/commands/${ID}?wait=30`)).statusCode).toBe(200);
});

test.each(['-1', '31', 'long'])('a wait of %s is refused', async (wait) => {
  expect((await opened().ask(`/v1/commands/${ID}?wait=${wait}`)).json()).toMatchObject({ status: 400, field: 'wait' });
});

test('a text that is not the id of a command is refused, because no outcome of it will ever come', async () => {
  for (const url of ['/v1/commands/nope', `/v1/commands/${ID}x`, '/v1/commands/nope?wait=30'])
    expect((await opened().ask(url)).json()).toMatchObject({
      ...{ status: 400, type: 'urn:vigil:bad_command_id', field: 'id' },
      detail: expect.stringContaining('is not the id of a command'),
    });
});
