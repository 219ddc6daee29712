import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { catalogue, Topic, type TopicName, topicNames } from '@vigil/events';
import { type Acl, planAcls, snapshotTopic, type Topology, topicsWritten } from '@vigil/stream';
import { describe, expect, test } from 'vitest';
import { reads as projected } from '../../packages/projection/src/project.ts';
import { consoleOnly } from '../../services/alerting/src/alert/routing.ts';
import { noPolicies } from '../../services/alerting/src/notices/policy-alerts.ts';
import {
  agentMapper,
  alertDecider,
  fleetMapper,
  groupDecider,
  taskMapper,
} from '../../services/alerting/src/processors.ts';
import { WRITTEN as COMMANDS } from '../../services/dashboard/src/commands/command.ts';
import { publishedTopics } from '../../services/dashboard/src/feed.ts';
import { WRITTEN as REPORTS } from '../../services/gateway/src/log/record-encoding.ts';
import { tailed } from '../../services/gateway/src/log/tail.ts';
import { EVALUATOR } from '../../services/health-evaluator/src/processor.ts';
import { createIngest } from '../../services/heartbeat-ingest/src/processor.ts';
import { usual } from '../../services/intervention/src/governor/settings.ts';
import { agentRequests, cases, governor, spendings } from '../../services/intervention/src/processors.ts';
import { processor as recovery } from '../../services/recovery/src/processor.ts';

type Service = Exclude<Acl['principal'], 'agents' | 'cli'>;
type Processor = Pick<Topology<TopicName, TopicName>, 'processor' | 'service' | 'reads' | 'writes' | 'writesTicks'>;

/** What the code of a service reads and writes on the broker. `others`: outside a processor. */
type Access = {
  readonly processors: readonly Processor[];
  readonly others: { readonly reads: readonly string[]; readonly writes: readonly string[] };
};

const none = { reads: [], writes: [] };
const groupSettings = { waitMs: 0, least: 10 };
const alertSettings = { groupWaitMs: 0, endWaitMs: 0, repeatMs: 1, routing: consoleOnly };

const ACCESS: Readonly<Record<Service, Access>> = {
  'heartbeat-ingest': { processors: [createIngest(null)], others: none },
  'health-evaluator': {
    processors: [EVALUATOR],
    // Policies that people apply, and those that are published.
    others: { reads: [Topic.applyPolicy, Topic.policy], writes: [Topic.policy] },
  },
  intervention: { processors: [cases, agentRequests, spendings, governor(usual)], others: none },
  recovery: { processors: [recovery], others: none },
  alerting: {
    processors: [
      ...[agentMapper(noPolicies), taskMapper(noPolicies), fleetMapper(noPolicies)],
      ...[alertDecider(alertSettings), groupDecider(groupSettings)],
    ],
    // The alerts of policies, what a sink delivers, and the time of the evaluator's topic.
    others: { reads: [Topic.policy, Topic.alert, Topic.agentObservation], writes: [Topic.alert, Topic.notify] },
  },
  projector: { processors: [], others: { reads: projected, writes: [Topic.dlqProjector] } },
  dashboard: {
    processors: [],
    // `vigil doctor` reads the ticks of alerting, and `vigil why` the evaluator's state.
    // Only operators read terminals, so they are not among the published topics.
    others: {
      reads: [...publishedTopics, Topic.agentTerminal, Topic.notify, snapshotTopic('health-evaluator')],
      writes: COMMANDS,
    },
  },
  gateway: { processors: [], others: { reads: tailed, writes: REPORTS } },
};
const services = Object.entries(ACCESS) as readonly (readonly [Service, Access])[];

const acls = planAcls();
const permitted = (service: Service, operation: Acl['operation'], resource: Acl['resource']): readonly string[] =>
  acls
    .filter((acl) => acl.principal === service && acl.operation === operation && acl.resource === resource)
    .map(({ name }) => name)
    .toSorted();
const sorted = (names: readonly string[]): readonly string[] => [...new Set(names)].toSorted();

describe.each(services)('the access control list of %s', (service, { processors, others }) => {
  test('permits to read the topics that it reads, and no other', () => {
    const read = [
      ...processors.flatMap(({ reads, processor }) => [...reads, snapshotTopic(processor)]),
      ...others.reads,
    ];
    expect(permitted(service, 'read', 'topic')).toEqual(sorted(read));
  });

  test('permits to write the topics that it writes, and no other', () => {
    const ticks = processors.flatMap(({ writesTicks }) => writesTicks ?? []);
    const written = [...topicsWritten(...processors), ...ticks, ...others.writes];
    expect(permitted(service, 'write', 'topic')).toEqual(sorted(written));
  });

  test('permits the transactions and the group of each of its processors, and no other transactions', () => {
    const names = processors.map(({ processor }) => processor);
    expect(permitted(service, 'write', 'transactional-id')).toEqual(names.map((name) => `${name}-`).toSorted());
    expect(permitted(service, 'read', 'group')).toEqual(expect.arrayContaining(names));
  });

  test('has each topic that its sources name', () => {
    const folder = path.resolve(import.meta.dirname, '../../services', service, 'src');
    const sources = globSync('**/*.ts', { cwd: folder }).filter(
      (file) => !/\.(test|fixture)\.ts$|testing\.ts$/.test(file),
    );
    const texts = sources.map((file) => readFileSync(path.join(folder, file), 'utf8'));
    const named = texts.flatMap((text) => [...text.matchAll(/\bTopic\.(\w+)/g)].map(([, name]) => name ?? ''));
    expect(named.length).toBeGreaterThan(0);
    const known = [...permitted(service, 'read', 'topic'), ...permitted(service, 'write', 'topic')];
    const missing = named.filter((name) => !known.includes(Topic[name as keyof typeof Topic]));
    expect(sorted(missing)).toEqual([]);
  });
});

test('each topic that a service reads is written by a principal', () => {
  const read = topicNames.filter((topic) =>
    services.some(([service]) => permitted(service, 'read', 'topic').includes(topic)),
  );
  for (const topic of read) expect(catalogue[topic].writers, topic).not.toEqual([]);
});
