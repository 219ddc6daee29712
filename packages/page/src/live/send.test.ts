import { expect, test } from 'vitest';
import type { Sent } from '../model/commands.ts';
import { type Outcome, sendAction, Unanswered } from './send.ts';

const hold = {
  key: 'hold/a',
  label: 'Hold',
  text: 'Hold a.',
  command: { kind: 'hold', agentId: 'a' },
  isDangerous: false,
  fields: [],
};

const PENDING: Outcome = { outcome: 'pending', reason: null, until: null, events: [] };

const stagesOf = async (write: () => Promise<string>, outcomes: readonly (Outcome | Error)[]) => {
  const stages: Sent['became'][] = [];
  const written: object[] = [];
  const rest = [...outcomes];
  await sendAction(1, hold, 'too fast', {
    write: (command) => {
      written.push(command);
      return write();
    },
    outcomeOf: async () => {
      const next = rest.shift() ?? PENDING;
      if (next instanceof Error) throw next;
      return next;
    },
    now: () => 0,
    onChange: ({ became }) => stages.push(became),
  });
  return { stages, written };
};

test('a command is shown as sent, then as asked, then with its outcome', async () => {
  const { stages, written } = await stagesOf(
    async () => 'e1',
    [
      PENDING,
      {
        outcome: 'applied',
        reason: null,
        until: null,
        events: [{ type: 'HOLD_CHANGED', payload: { held: true, by: 'ada', why: 'too fast' } }],
      },
    ],
  );
  expect(written).toEqual([{ kind: 'hold', agentId: 'a', by: 'page', why: 'too fast' }]);
  expect(stages).toEqual([
    { kind: 'sending' },
    { kind: 'asked', eventId: 'e1', text: '' },
    { kind: 'applied', text: 'held by ada: too fast' },
  ]);
});

test('a command that waits shows what it waits for, once, until its outcome has arrived', async () => {
  const waiting = { ...PENDING, reason: 'waits for a to end' };
  const ended: Outcome = { outcome: 'applied', reason: 'it has ended', until: null, events: [] };
  const { stages } = await stagesOf(async () => 'e1', [PENDING, waiting, waiting, ended]);
  expect(stages).toEqual([
    { kind: 'sending' },
    { kind: 'asked', eventId: 'e1', text: '' },
    { kind: 'asked', eventId: 'e1', text: 'waits for a to end' },
    { kind: 'applied', text: 'it has ended' },
  ]);
});

test('a command is followed until the deadline of what it waits for', async () => {
  const waiting = { ...PENDING, reason: 'waits for a to end', until: 1 };
  const ended: Outcome = { outcome: 'applied', reason: 'it has ended', until: null, events: [] };
  const { stages } = await stagesOf(async () => 'e1', [...Array<Outcome>(20).fill(waiting), ended]);
  expect(stages.at(-1)).toEqual({ kind: 'applied', text: 'it has ended' });
});

test('a refusal has its reason, whether the API or the reader of the command refuses', async () => {
  const refused = await stagesOf(async () => 'e1', [{ ...PENDING, outcome: 'refused', reason: 'the fleet is halted' }]);
  expect(refused.stages.at(-1)).toEqual({ kind: 'refused', text: 'the fleet is halted' });
  const failed = await stagesOf(() => Promise.reject(new Error('agent "a" does not exist')), []);
  expect(failed.stages).toEqual([{ kind: 'sending' }, { kind: 'refused', text: 'agent "a" does not exist' }]);
});

test('a command that was sent and not answered in time is not refused: it may take effect later', async () => {
  const { stages } = await stagesOf(() => Promise.reject(new Unanswered('no answer in time')), []);
  expect(stages).toEqual([{ kind: 'sending' }, { kind: 'unknown', text: 'no answer in time' }]);
});

test('a command whose outcome is not reported is neither applied nor refused', async () => {
  for (const outcomes of [[], [new Error('the dashboard does not answer')]])
    expect((await stagesOf(async () => 'e1', outcomes)).stages.at(-1)).toMatchObject({ kind: 'unknown' });
});

test('a command that waits has the reason, instead of an outcome', async () => {
  const waits: Outcome = { ...PENDING, reason: 'halted: ada has halted the fleet' };
  const { stages } = await stagesOf(async () => 'e1', [waits, waits, waits, waits, waits, waits, waits]);
  expect(stages.at(-1)).toEqual({ kind: 'unknown', text: 'halted: ada has halted the fleet' });
});
