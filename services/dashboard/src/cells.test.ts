import { gzipSync } from 'node:zlib';
import type { CellRow } from '@vigil/read-model';
import { expect, test } from 'vitest';
import { dashboard } from './app.fixture.ts';
import { cellsOf } from './cells.ts';

const cell: CellRow = {
  agentId: 'worker-1',
  state: 'HEALTHY',
  exemption: null,
  since: 1_790_000_000_000,
  taskId: 'T-1',
  policyName: 'vigil',
  host: 'host-1',
  unhealthy: false,
  waiting: false,
  held: false,
  labels: { team: 'core' },
};

test('each agent is a row of values, and each set of labels is sent once', () => {
  const cells = cellsOf([cell, { ...cell, agentId: 'worker-2' }, { ...cell, agentId: 'worker-3', labels: {} }]);
  expect(cells.labels).toEqual([{ team: 'core' }, {}]);
  const read = cells.agents.map((row) => Object.fromEntries(cells.fields.map((field, at) => [field, row[at]])));
  expect(read).toMatchObject([
    { ...cell, labels: 0 },
    { agentId: 'worker-2', labels: 0 },
    { agentId: 'worker-3', labels: 1 },
  ]);
});

test('10,000 agents are sent in less than 300 kB', async () => {
  const rows = Array.from({ length: 10_000 }, (_, at) => ({
    ...cell,
    agentId: `worker-${at}`,
    taskId: `OMN-${(at * 7919) % 10_000}`,
    since: 1_790_000_000_000 + ((at * 7_919_317) % 86_400_000),
    host: `build-${at % 200}`,
    state: (['HEALTHY', 'HEALTHY', 'STUCK', 'DEGRADED'] as const)[(at * 31) % 4] ?? 'HEALTHY',
    labels: { team: `team-${at % 40}`, graph: `g-${at % 500}` },
  }));
  const { app } = dashboard({ cells: async () => rows });
  const headers = { authorization: 'Bearer viewer', 'accept-encoding': 'gzip' };
  const answer = await app.inject({ url: '/v1/fleet/cells', headers });
  expect(answer.headers['content-encoding']).toBe('gzip');
  expect(answer.rawPayload.length).toBeLessThan(300_000);
  const plain = await app.inject({ url: '/v1/fleet/cells', headers: { authorization: 'Bearer viewer' } });
  expect(plain.json().agents).toHaveLength(10_000);
  expect(gzipSync(plain.body).length).toBeGreaterThan(0);
});
