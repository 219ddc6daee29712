import { Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { instant, type Statement } from '@vigil/read-model';
import type { PlacedEvent } from '@vigil/stream';
import { expect, test } from 'vitest';
import { project } from '../project.ts';

type Presence = PlacedEvent<typeof Topic.fleetPresence>;
const DAY = 86_400_000;

const present = (why: string, day: number, presentSince: number | null): Presence =>
  ({
    ...example(Topic.fleetPresence, 'AGENT_PRESENT', { why: why as never, presentSince }),
    version: day + 1,
    offset: day,
    occurredAt: EXAMPLE_TIME + day * DAY,
  }) as Presence;

const tables = (statements: readonly Statement[]) => statements.map(({ table }) => table);
const rowOf = (statements: readonly Statement[]) => {
  const row = statements.find(({ table }) => table === 'agents');
  return row?.columns as Record<string, unknown>;
};

const first = project(present('first_heartbeat', 0, EXAMPLE_TIME));
const repeated = project(present('still_present', 3, EXAMPLE_TIME));

test('a repeated presence is not a line of the history: nothing has happened', () => {
  expect(tables(first)).toEqual(['history', 'agents']);
  expect(tables(repeated)).toEqual(['agents']);
});

test('the agent is present since the beginning, not since the repetition: a store that begins with it has the same row', () => {
  expect(rowOf(repeated)).toEqual({ ...rowOf(first), presence_why: 'still_present' });
  expect(rowOf(repeated).presence_since).toEqual(instant(EXAMPLE_TIME));
});

test('a repetition of a writer that names no beginning counts from when it was made', () => {
  const row = rowOf(project(present('still_present', 3, null)));
  expect(row).toMatchObject({ present: true, presence_since: instant(EXAMPLE_TIME + 3 * DAY) });
});

test('the same repetition read twice is the same statement, and a later one is of a later order', () => {
  expect(project(present('still_present', 3, EXAMPLE_TIME))).toEqual(repeated);
  const order = (statements: readonly Statement[]) => statements.map((one) => (one as { order?: unknown }).order);
  expect(order(project(present('still_present', 4, EXAMPLE_TIME)))).not.toEqual(order(repeated));
});

test('an agent that comes back is a line of the history again, and present since then', () => {
  const back = project(present('returned', 5, EXAMPLE_TIME + 5 * DAY));
  expect(tables(back)).toEqual(['history', 'agents']);
  expect(rowOf(back).presence_since).toEqual(instant(EXAMPLE_TIME + 5 * DAY));
});
