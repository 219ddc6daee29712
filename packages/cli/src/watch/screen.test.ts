import { stripVTControlCharacters } from 'node:util';
import picocolors from 'picocolors';
import { expect, test } from 'vitest';
import { NoAnswer } from '../errors.ts';
import { agentRow, CURRENT, entry, explanation, fleetRow, NOON, VIEW } from '../render/rows.fixture.ts';
import { press, START } from './keys.ts';
import { screenOf } from './screen.ts';
import { type Look, NO_LOOK, notShownYet, troubleOf, withoutAnswer } from './seen.ts';

const named = (agentId: string, more = {}) => agentRow({ agentId, state: 'HEALTHY', ...more });
const look = (more: Partial<NonNullable<Look['seen']>> = {}): Look => {
  const seen = { agents: [named('a')], story: [], fleet: fleetRow(), inbox: 0, knowledge: CURRENT, ...more };
  return { seen, agent: null, knowledge: seen.knowledge, seenAt: NOON - 5000 };
};
const many = Array.from({ length: 60 }, (_, i) => named(`w${String(i).padStart(2, '0')}`));
const lines = (rows: number, seen: Look, at: Parameters<typeof screenOf>[2] = START) =>
  screenOf(VIEW, rows, at, seen).lines;

test('the first line counts agents, and has HALTED or BRAKE where one holds the fleet', () => {
  const agents = [named('a'), agentRow({ agentId: 'b' }), agentRow({ agentId: 'c', caseWaiting: true })];
  // The inbox has requests, reviews, tickets and a brake, too: its number is not that of agents.
  const [first] = lines(30, look({ agents, inbox: 4 }));
  expect(first).toBe('vigil  3 agents, 2 unhealthy, 4 in the inbox  12:00:00');
  expect(lines(30, look({ agents, inbox: null }))[0]).toBe('vigil  3 agents, 2 unhealthy  12:00:00');
  const held = fleetRow({ halted: true, haltBy: 'ada', haltWhy: 'moving', braked: true });
  expect(lines(30, look({ fleet: held }))[0]).toMatch(/^vigil {2}HALTED {2}BRAKE {2}1 agents/);
  expect(lines(30, look({ fleet: held }))).toContain('HALTED by ada: moving. Nothing acts.');
});

test.each([6, 10, 24, 25, 80])('a screen of %i rows is filled and never exceeded', (rows) => {
  const story = Array.from({ length: 50 }, (_, i) => entry('AGENT_PAUSED', {}, NOON + i * 1000));
  const screen = screenOf(VIEW, rows, START, look({ agents: many, story }));
  expect(screen.lines).toHaveLength(rows);
  expect(screen.lines.at(-1)).toMatch(/^1–\d+ of 60 {2}↑ ↓ PgUp PgDn/);
  if (rows > 20) expect(screen.lines.at(-2)).toBe('12:00:49  worker-1  paused');
});

test.each([20, 40, 60, 80])('no line of a screen of %i columns is longer, also that of a selected agent', (width) => {
  const agents = [agentRow({ agentId: 'DEMO-lid-agent-of-a-long-name' }), named('b', { exemption: 'awaiting_input' })];
  const halted = fleetRow({ halted: true, haltBy: 'ada', haltWhy: `a move ${'of the fleet '.repeat(9)}` });
  const paint = picocolors.createColors(true);
  const seen = look({ agents, fleet: halted, story: [entry('AGENT_PAUSED', {}, NOON)] });
  const shown = screenOf({ ...VIEW, width, paint }, 24, START, seen).lines;
  for (const line of shown) expect(stripVTControlCharacters(line).length).toBeLessThanOrEqual(width);
  expect(shown.filter((line) => line.startsWith(paint.inverse('').slice(0, 4)))).toHaveLength(1);
});

test('the list shows where it is, and the last page ends with the last agent', () => {
  const { extent } = screenOf(VIEW, 20, START, look({ agents: many }));
  const end = press(START, { name: 'end', ctrl: false, text: undefined }, extent) ?? START;
  const shown = lines(20, look({ agents: many }), end);
  expect(shown.join('\n')).toContain('w59');
  expect(shown.at(-1)).toContain(`${60 - extent.page + 1}–60 of 60`);
});

test('a search shows agents by name, task, state, reason and label', () => {
  const agents = [
    named('alpha', { labels: { team: 'core' } }),
    named('beta', { taskId: 'OMN-7' }),
    agentRow({ agentId: 'c' }),
  ];
  const found = (find: string) => screenOf(VIEW, 20, { ...START, find }, look({ agents })).extent.shown;
  expect(found('ALPHA')).toEqual(['alpha']);
  expect(found('team=core')).toEqual(['alpha']);
  expect(found('omn-7')).toEqual(['beta']);
  expect(found('stuck')).toEqual(['c']);
  expect(found('nothing')).toEqual([]);
  expect(lines(20, look({ agents }), { ...START, find: 'be', isTyping: true }).at(-1)).toMatch(/^\/be_/);
});

test('without the dashboard the last states remain, as old ones, with the time since when', () => {
  const before = look({ agents: [agentRow()] });
  const trouble = { why: 'The dashboard does not answer.', part: 'the dashboard', since: null };
  const later = withoutAnswer(withoutAnswer(before, trouble, NOON - 1000), trouble, NOON);
  const text = lines(30, later).join('\n');
  expect(text).toContain('BLIND since 11:59:55 (5 s)');
  expect(text).toContain('AWAY  the dashboard since 11:59:55: The dashboard does not answer.');
  expect(text).toContain('was STUCK');
  expect(lines(30, look({ agents: [agentRow()] })).join('\n')).not.toContain('was STUCK');
});

test('an outage has the time of the last complete rows, and the time that the dashboard reports instead of it', () => {
  const trouble = (since: number | null) => ({
    ...{ why: 'no answer', since, part: since === null ? 'the dashboard' : 'postgres' },
  });
  const before = look({ knowledge: { ...CURRENT, upTo: NOON - 6000 } });
  const lost = withoutAnswer(before, trouble(null), NOON);
  expect(lost.knowledge).toMatchObject({ blindSince: NOON - 6000, away: [{ since: NOON - 6000 }] });
  const reported = withoutAnswer(lost, trouble(NOON - 5500), NOON + 1000);
  expect(reported.knowledge).toMatchObject({ blindSince: NOON - 5500, away: [{ since: NOON - 5500 }] });
  expect(reported.knowledge.away.map(({ part }) => part)).toEqual(['postgres']);
  const again = withoutAnswer(reported, trouble(null), NOON + 2000).knowledge;
  expect(again).toMatchObject({ blindSince: NOON - 5500, away: [{ since: NOON - 5500 }, { part: 'postgres' }] });
  const blind = look({ knowledge: { ...CURRENT, blindSince: NOON - 60_000 } });
  expect(withoutAnswer(blind, trouble(null), NOON).knowledge.blindSince).toBe(NOON - 60_000);
});

test('a dashboard that answers without states names the part that it misses', () => {
  const trouble = { why: 'Postgres has not answered since 11:59', part: 'postgres', since: NOON - 60_000 };
  const text = lines(30, withoutAnswer(look({}), trouble, NOON)).join('\n');
  expect(text).toContain('AWAY  postgres since 11:59:00: Postgres has not answered since 11:59');
  expect(text).not.toContain('the dashboard');
});

test('a dashboard that answers no more has one beginning: since its last answer', () => {
  const trouble = troubleOf(new NoAnswer('it is frozen or busy', 'BLIND since 11:57:00 or before'));
  const text = lines(30, withoutAnswer(look(), trouble, NOON)).join('\n');
  expect(text).toContain('AWAY  the dashboard since 11:59:55: it is frozen or busy');
  expect(text.match(/ since /g)).toHaveLength(2);
  expect(text).not.toContain('or before');
});

test('a dashboard that never answered is named, and nothing else is shown', () => {
  const screen = screenOf(
    VIEW,
    30,
    START,
    withoutAnswer(NO_LOOK, { why: 'refused', part: 'the dashboard', since: null }, NOON),
  );
  expect(screen.lines.join('\n')).toMatch(
    /BLIND since 12:00:00.*\nAWAY {2}the dashboard since 12:00:00: refused\nWaiting/,
  );
});

test('an opened agent is explained, long lines continue below, and its screen is filled', () => {
  const note = `${'word '.repeat(60)}end`;
  const at = { kind: 'agent', agentId: 'worker-1', top: 0, behind: START } as const;
  const seen: Look = { ...look(), agent: explanation({ notes: [note] }) };
  const screen = screenOf(VIEW, 60, at, seen);
  expect(screen.lines).toHaveLength(60);
  expect(screen.lines.every((line) => line.length <= VIEW.width)).toBe(true);
  expect(screen.lines.join('\n').replaceAll(/\s+/g, ' ')).toContain('word word end');
  expect(screen.lines.at(-1)).toMatch(/Esc: back/);
  expect(screenOf(VIEW, 12, { ...at, top: 1000 }, seen).lines.at(-1)).toContain(`of ${screen.extent.lines} lines`);
});

test('the explanation of another agent is not shown as that of the opened one', () => {
  const at = { kind: 'agent', agentId: 'other', top: 0, behind: START } as const;
  const text = lines(30, { ...look(), agent: explanation() }, at).join('\n');
  expect(text).toContain('Nothing is known of other yet.');
  expect(text).not.toContain('worker-1');
});

test('without a terminal each event is printed once, without routine events', () => {
  const story = [entry('AGENT_PAUSED', {}, 1), entry('STEP_ADMITTED', {}, 2), entry('AGENT_RESUMED', {}, 3)];
  expect(notShownYet(new Set(), story).map(({ type }) => type)).toEqual(['AGENT_PAUSED', 'AGENT_RESUMED']);
  expect(notShownYet(new Set(story.map(({ eventId }) => eventId)), story)).toEqual([]);
});
