import { expect, test } from 'vitest';
import { CURRENT, entry, fleetRow, NOON, VIEW } from '../render/rows.fixture.ts';
import { newLines } from './lines.ts';
import { type Look, NO_LOOK, withoutAnswer } from './seen.ts';

const look = (story: NonNullable<Look['seen']>['story'], knowledge = CURRENT): Look => ({
  ...{
    seen: { agents: [], story, fleet: fleetRow(), inbox: 0, knowledge },
    agent: null,
    knowledge,
    seenAt: NOON - 3000,
  },
});

test('each event has one line', () => {
  const [one, other] = [entry('AGENT_PAUSED', {}, NOON - 2000), entry('AGENT_RESUMED', {}, NOON - 1000)];
  expect(newLines(VIEW, NO_LOOK, look([one]))).toEqual(['11:59:58  worker-1  paused']);
  expect(newLines(VIEW, look([one]), look([one, other]))).toEqual(['11:59:59  worker-1  resumed']);
  expect(newLines(VIEW, look([one, other]), look([one, other]))).toEqual([]);
});

test('an outage of the dashboard begins with its last good answer, is reported once, and so is its end', () => {
  const before = look([]);
  const lost = withoutAnswer(before, { why: 'no answer', part: 'the dashboard', since: null }, NOON);
  expect(newLines(VIEW, before, lost)).toEqual([
    'BLIND since 11:59:57 (3 s): states are as they were then.',
    'AWAY  the dashboard since 11:59:57: no answer',
  ]);
  expect(
    newLines(VIEW, lost, withoutAnswer(lost, { why: 'no answer', part: 'the dashboard', since: null }, NOON + 1000)),
  ).toEqual([]);
  expect(newLines(VIEW, lost, look([]))).toEqual(['current again at 11:59:57', 'the dashboard answers again']);
});
