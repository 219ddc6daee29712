import { expect, test } from 'vitest';
import { withCauses } from './knowledge.ts';

const ok = (service: string) => ({ service, ready: true, detail: '', since: null });
const bad = (service: string, detail: string, since: number | null) => ({ service, ready: false, detail, since });
const waits = (service: string, server: string, since: number | null) =>
  bad(service, `not ready: it cannot work while ${server} is away`, since);

const KILLED = 100_000;
const broker = bad('broker', 'connect ECONNREFUSED: is it running?', KILLED);

test('without a broker no service is ready, since the broker went away', () => {
  const parts = withCauses([broker, ok('recovery'), bad('gateway', 'not ready: starting', KILLED + 16_000)]);
  expect(parts).toEqual([broker, waits('recovery', 'broker', KILLED), waits('gateway', 'broker', KILLED)]);
});

test('a service that failed well before the broker, or does not answer at all, keeps its own reason and time', () => {
  const before = bad('recovery', 'not ready: starting', KILLED - 60_000);
  const ended = bad('gateway', 'http://127.0.0.1:9 does not answer (ECONNREFUSED): is it running?', KILLED + 900);
  expect(withCauses([broker, before, ended])).toEqual([broker, before, ended]);
});

test('without Postgres only what stores and shows rows waits for it', () => {
  const postgres = bad('postgres', 'timeout expired: is it running?', KILLED);
  expect(withCauses([ok('broker'), ok('projector'), ok('gateway'), ok('registry'), postgres])).toEqual([
    ...[ok('broker'), waits('projector', 'postgres', KILLED), ok('gateway'), ok('registry'), postgres],
  ]);
});

test('one broker of several that answers is enough', () => {
  const brokers = [bad('broker a:1', 'gone', null), ok('broker b:1')];
  expect(withCauses([...brokers, ok('gateway')])).toEqual([...brokers, ok('gateway')]);
  expect(withCauses([bad('broker a:1', 'gone', null), ok('gateway')]).at(-1)).toEqual(waits('gateway', 'broker', null));
});
