import { expect, test } from 'vitest';
import { exportedSessions, readExport } from './exported.ts';

const T0 = Date.UTC(2026, 10, 23, 4);
const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });
const nanos = (ms: number): string => `${ms}000000`;

/** The span of a call of a tool. `session`: null if it names none. */
const span = (i: number, session: string | null) => ({
  ...{ traceId: 't', spanId: `s${i}`, name: 'execute_tool' },
  ...{ startTimeUnixNano: nanos(T0 + i * 1000), endTimeUnixNano: nanos(T0 + i * 1000 + 500) },
  attributes: [
    attribute('gen_ai.operation.name', 'execute_tool'),
    attribute('gen_ai.tool.name', 'bash'),
    attribute('gen_ai.tool.call.id', `c${i}`),
    ...(session === null ? [] : [attribute('gen_ai.conversation.id', session)]),
  ],
});
const exported = (...sessions: readonly (string | null)[]) => {
  const spans = sessions.map((session, i) => span(i, session));
  return readExport({ resourceSpans: [{ resource: {}, scopeSpans: [{ scope: { name: 'x' }, spans }] }] });
};
const callsIn = (...exports: readonly ReturnType<typeof exported>[]) =>
  exportedSessions(exports).map(({ id, reports }) => [
    id,
    ...reports.flatMap(({ fields }) => fields.tool_calls ?? []).map((one) => `${one.call_id} ${one.outcome}`),
  ]);

test('a span has the start and the end of its call, and a start has no outcome yet', () => {
  expect(callsIn(exported('a'))).toEqual([['a', 'c0 running', 'c0 ok']]);
});

test('a record without a session is of its client’s last new one, in the same request or a later one', () => {
  const both = callsIn(exported('a', 'b', 'a', null));
  expect(both.map(([id, ...calls]) => [id, calls.length])).toEqual([
    ['a', 4],
    ['b', 4],
  ]);
  expect(
    callsIn(exported('a', 'b'), [...exported('a', 'a', null)]).map(([id, ...calls]) => [id, calls.length]),
  ).toEqual([
    ['a', 2],
    ['b', 4],
  ]);
});

test('a session of eight times the spans takes some eight times the work, and not the square of it', () => {
  const workOf = (spans: number): number => {
    const entry = exported(...new Array<string>(spans).fill('a'));
    const before = process.cpuUsage();
    exportedSessions([entry]);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  workOf(2000);
  const least = (spans: number): number => Math.min(workOf(spans), workOf(spans));
  expect(least(16_000) / least(2000)).toBeLessThan(24);
}, 120_000);
