import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { noPolicies } from '../services/alerting/src/notices/policy-alerts.ts';
import { agentMapper, alertDecider, fleetMapper, taskMapper } from '../services/alerting/src/processors.ts';
import { inForceOf, loadPolicies } from '../services/health-evaluator/src/policies.ts';
import { evaluator } from '../services/health-evaluator/src/processor.ts';
import { createIngest } from '../services/heartbeat-ingest/src/processor.ts';
import { cases, governor } from '../services/intervention/src/processors.ts';
import { processor as recovery } from '../services/recovery/src/processor.ts';

const ingest = createIngest(null);

type Declared = { readonly processor: string; readonly reads: readonly string[]; readonly writes: readonly string[] };

const vigil = inForceOf(loadPolicies(undefined, { fallback: 'vigil', requestable: 'any' }));

const declared: readonly (readonly [service: string, Declared])[] = [
  ['heartbeat-ingest', ingest],
  ['health-evaluator', evaluator(() => vigil, 1)],
  ['intervention', cases],
  ['intervention', governor({} as never)],
  ['recovery', recovery],
  ['alerting', agentMapper(noPolicies)],
  ['alerting', taskMapper(noPolicies)],
  ['alerting', fleetMapper(noPolicies)],
  ['alerting', alertDecider({ groupWaitMs: 0, endWaitMs: 0, repeatMs: 1, routing: { defaults: [], configured: [] } })],
];

const readme = (service: string): string =>
  readFileSync(path.resolve(import.meta.dirname, '../services', service, 'README.md'), 'utf8');
const shortName = (topic: string): string => topic.split('.')[3] ?? topic;

test.each(declared)(
  'the README of %s names every topic that $processor reads and writes',
  (service, { reads, writes }) => {
    const text = readme(service);
    for (const topic of [...reads, ...writes]) expect(text).toContain(shortName(topic));
  },
);
