import { hashes } from '@vigil/sdk/hashes';
import { policyOf } from '../fixture.ts';
import { type Change, type JudgedRun, runJudge } from './judge.ts';
import { readRun } from './run.ts';

const POLICY = `
policy: test
signals:
  no_heartbeat: { after: 10s }
  no_activity: { after: 60s }
  call_overdue: { buffer: 10s }
  looping: { is: repeated_calls, times: 3, polling_after: 10m }
  failing: { is: consecutive_failures, above: 3 }
states:
  FAILING: [failing]
  STUCK: [no_activity, call_overdue, looping]
  DEGRADED: [no_heartbeat]
exemptions: { starting: {}, call_in_flight: { buffer: 10s } }
plans:
  - when: STUCK
    do: [{ alert: ops }]
`;
const policy = policyOf(POLICY).all[0]!;
/** A run of these calls, judged by a policy with small limits. */
export const judged = (calls: readonly object[], gapMs = 5_000): JudgedRun =>
  runJudge(policy, hashes, gapMs)(readRun(JSON.stringify({ run_id: 'r', calls })));
export const same = { tool: 'bash', args: 'ls', result: 'a' };
export const other = (n: number) => ({ tool: 'bash', args: `cat ${n}`, result: `${n}` });
/** A call whose start is known: it took no time. */
export const brief = (n: number, ts: number) => ({ ...other(n), started_at: ts, ts });
export const stuck = (call: number, at: number, ...signals: string[]): Change => ({ to: 'STUCK', call, at, signals });
export const healthy = (call: number, at: number): Change => ({ to: 'HEALTHY', call, at, signals: [] });
