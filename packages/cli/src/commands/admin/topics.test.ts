import { planAcls, planTopics } from '@vigil/stream';
import { expect, test } from 'vitest';
import { aclLines, linesOf, schemaLines } from './topics.ts';

const [planned] = planTopics({ partitions: 4, replicas: 3 });

test('a plan shows each setting that would be lost, beside what replaces it', () => {
  const topic = { ...planned!, topic: 'onex.evt.a.b.v1', config: { 'retention.ms': '-1', 'cleanup.policy': 'delete' } };
  const change = {
    kind: 'configure' as const,
    planned: topic,
    from: { 'retention.ms': '5' },
    kept: { 'segment.ms': '9' },
  };
  expect(linesOf({ changes: [change], keptLonger: [], tooFewReplicas: [] })).toEqual([
    'configure  onex.evt.a.b.v1  retention.ms 5 -> -1',
  ]);
});

test('a plan shows how a topic is made, which are kept longer, and which have too few replicas', () => {
  const topic = { ...planned!, topic: 'onex.evt.a.b.v1', partitions: 4 };
  const longer = { topic: 'onex.evt.a.d.v1', retentionMs: '-1', planned: '5' };
  const few = { topic: 'onex.evt.a.c.v1', replicas: 1, planned: 3 };
  expect(
    linesOf({ changes: [{ kind: 'create', planned: topic }], keptLonger: [longer], tooFewReplicas: [few] }),
  ).toEqual([
    'create  onex.evt.a.b.v1  4 partitions, 3 replicas each',
    'keeps longer  onex.evt.a.d.v1  retention.ms -1 instead of 5: it stays, because apply deletes no records',
    'too few replicas  onex.evt.a.c.v1  1 of 3: move its partitions with kafka-reassign-partitions',
  ]);
});

test('without differences the plan reports that', () =>
  expect(linesOf({ changes: [], keptLonger: [], tooFewReplicas: [] })).toEqual(['Every topic is as it is to be.']));

test('each ACL is a line with its principal, and a name that is a beginning ends with *', () => {
  const lines = aclLines(planAcls());
  expect(lines).toContain('User:agents  write  topic  onex.cmd.heartbeat-ingest.heartbeat.v1');
  expect(lines).toContain('User:recovery  write  transactional-id  recovery-*');
  expect(new Set(lines).size).toBe(lines.length);
});

test('a check of schemas shows those that differ with the reason, and counts the others', () => {
  expect(schemaLines([{ kind: 'registered', subject: 'a' }])).toEqual(['1 of 1 schemas are registered.']);
  expect(
    schemaLines([
      { kind: 'registered', subject: 'a' },
      { kind: 'missing', subject: 'b' },
      { kind: 'incompatible', subject: 'c', why: 'a field has no default' },
    ]),
  ).toEqual(['missing  b', 'incompatible  c  a field has no default', '1 of 3 schemas are registered.']);
});
