import { type Heartbeat, PROOF_HEADER, proofCheck, Topic } from '@vigil/events';
import { expect, test } from 'vitest';
import { claimsOf, least, PROOF_KEY, showing, showingClaims, signer, testGateway } from '../testing.ts';

const { log, post } = testGateway();

const written = () =>
  log()
    .events(Topic.heartbeat)
    .map(({ payload }) => ({ ...payload.verified }));
const records = () =>
  log()
    .records(Topic.heartbeat)
    .filter(({ value }) => value !== null);
const check = proofCheck([PROOF_KEY]);
const flaws = () =>
  records().map(({ headers, key, value, timestamp }) =>
    check(headers[PROOF_HEADER] ?? '', { key: key ?? '', value: value ?? Buffer.alloc(0), timestamp }),
  );

test('a heartbeat names the principal of its token, with a proof', async () => {
  await post('/v1/heartbeats', least);
  await post('/v1/heartbeats', least, showing(await signer.sign(claimsOf('agent', 'worker-1'))));
  await post(
    '/v1/heartbeats',
    { ...least, agent_id: 'worker-2', runtime_id: 'host-1' },
    await showingClaims('runtime', 'host-1'),
  );
  expect(written()).toEqual([
    { kind: 'operator', name: 'operator' },
    { kind: 'agent', name: 'worker-1' },
    { kind: 'runtime', name: 'host-1' },
  ]);
  expect(flaws()).toEqual([null, null, null]);
});

test('what a client sends as its verified principal is replaced', async () => {
  const forged: Heartbeat['verified'] = { kind: 'operator', name: 'operator' };
  const own = await showingClaims('agent', 'worker-1');
  expect((await post('/v1/heartbeats', { ...least, verified: forged }, own)).status).toBe(202);
  expect(written()).toEqual([{ kind: 'agent', name: 'worker-1' }]);
});
