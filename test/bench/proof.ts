import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { memoryCodec, proofCheck, proofSigner, Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { report } from './support/report.ts';

/**
 * Measures the processor time of the gateway's proof on one heartbeat. For comparison: a signature with Ed25519, for
 * which ingest would need no secret.
 */
const RUNS = 7;
const TIMES = 5000;
const KEY = 'a-key-of-proofs-for-benchmarks-only';

const heartbeat = example(Topic.heartbeat, 'HEARTBEAT');
const { key } = heartbeat;
const value = memoryCodec().encode(heartbeat);
const timestamp = Date.now();
const signProof = proofSigner(KEY);
const header = signProof(key, value, timestamp);
const check = proofCheck([KEY]);
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const signature = sign(null, value, privateKey);

/** Microseconds of one call. */
const costOf = (run: () => unknown): number => {
  const before = process.cpuUsage();
  for (let i = 0; i < TIMES; i++) run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / TIMES;
};

const runsOf = (run: () => unknown): readonly number[] => {
  costOf(run);
  return Array.from({ length: RUNS }, () => costOf(run));
};

report('proof', [
  {
    name: 'the gateway signs a heartbeat',
    unit: 'µs',
    runs: runsOf(() => signProof(key, value, timestamp)),
    reference: { name: 'Ed25519', runs: runsOf(() => sign(null, value, privateKey)) },
  },
  {
    name: 'ingest verifies it',
    unit: 'µs',
    runs: runsOf(() => check(header, { key, value, timestamp })),
    reference: { name: 'Ed25519', runs: runsOf(() => verify(null, value, publicKey, signature)) },
  },
]);
