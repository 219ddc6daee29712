import { expect, test } from 'vitest';
import { Fold } from '../processor/fold.ts';
import { dependencies, jsonCodec, listening } from '../runner/processors.fixture.ts';

const codec = jsonCodec();
const T = 1_795_305_600_000;
const AGENTS = 50;
const AWAY_AT = 10_000;
const OUTAGES = [500, 1500, 2000, 2500, 3000, 4000, 4900, 6000, 10_000, 15_000, 60_000];

/**
 * 50 agents send a heartbeat once a second through an outage of ingest (no ticks) or of the broker (neither); one
 * becomes silent shortly before its end.
 */
const recorded = (what: 'broker' | 'ingest', outage: number) => {
  const records: { key: string; at: number }[] = [];
  for (let at = 0; at < AWAY_AT + outage + 30_000; at += 20) {
    const away = at > AWAY_AT && at < AWAY_AT + outage;
    const back = at >= AWAY_AT + outage && at < AWAY_AT + outage + 20;
    if ((!away && at % 1000 === 0) || back) records.push({ key: '@tick/0', at });
    const agent = (at / 20) % AGENTS;
    if (what === 'broker' && away) continue;
    if (agent === 7 && at > AWAY_AT + outage - 500) continue;
    records.push({ key: `agent-${agent}`, at });
  }
  return records;
};

const missing = (records: readonly { key: string; at: number }[]) => {
  const fold = new Fold(listening('run'), dependencies());
  const heartbeat = Buffer.from(JSON.stringify({ type: 'HEARTBEAT', payload: {} }));
  return records.flatMap(({ key, at }, offset) => {
    const value = key.startsWith('@') ? null : heartbeat;
    const outs = fold.apply({ topic: 'run.in', partition: 0, offset, key, value, timestamp: T + at, headers: {} });
    return outs
      .filter((out) => out.value !== null && codec.decode(out.topic as never, out.value).type === 'MISSING')
      .map((out) => out.key);
  });
};

test.each(['broker', 'ingest'] as const)(
  'an outage of the %s of any length makes no agent absent, and the agent that became silent in it is found once',
  (what) => {
    for (const outage of OUTAGES)
      expect({ outage, missing: missing(recorded(what, outage)) }).toEqual({ outage, missing: ['agent-7'] });
  },
);
