import type { AgentRow } from '@vigil/read-model';

/** Numbers from 0 to 1 that are the same in each run. */
export const randomFrom = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
};

const SERVICES = [
  'checkout',
  'billing',
  'search',
  'catalogue',
  'identity',
  'shipping',
  'reports',
  'mobile',
  'gateway',
  'docs',
];
const WORK = ['api', 'tests', 'migrate', 'review', 'refactor', 'flaky', 'deps', 'perf'];
const PHASES = ['plan', 'implement', 'test', 'review', 'commit'];
const MINUTE = 60_000;

const HEALTHY: AgentRow = {
  ...{
    agentId: '',
    state: 'HEALTHY',
    unhealthy: false,
    stateFrom: null,
    since: null,
    reason: null,
    onsetAt: null,
    evidence: [],
  },
  ...{ endReason: null, exemption: null, exemptionSuspends: [], exemptionSince: null, exemptionUntil: null },
  ...{ episodeId: null, instanceId: 'i1', instanceSince: null, taskId: null, runtimeId: null, labels: {}, attempt: 1 },
  ...{ maxAttempts: 3, policyName: 'vigil', policyHash: '7c1e90ab52d4f386', present: true, presenceSince: null },
  ...{ host: null, model: null, warrantId: null, warrantOpen: null, warrantPlan: null, warrantLapsedWhy: null },
  ...{ lastHeartbeatAt: null, phase: null, progress: null, activity: 'working', tokens: 0, errorCount: 0 },
  ...{ contextUsed: null, contextMax: null },
  ...{ ingress: 'gateway', verified: null, intervalMs: 10_000, waitingFor: null, client: null, lastOutputAt: null },
  ...{ tail: [], errors: [], terminalErrors: [], exitAt: null, exitCode: null, exitSignal: null, exitReason: null },
  ...{ exitDetails: null, exitLastOutput: [], held: false, heldUntil: null, heldBy: null, heldWhy: null },
  ...{ duplicateOf: null, duplicateCount: null, duplicateAt: null, caseId: null, caseWaiting: false },
  ...{ caseWithheld: null },
};

const TAIL = [
  '$ pnpm test --filter checkout',
  '',
  ' RUN  v5.1.1 services/checkout',
  '',
  ' ✓ src/cart/totals.test.ts (14 tests) 212 ms',
  ' ✓ src/cart/discounts.test.ts (9 tests) 148 ms',
  ' ❯ src/payments/refund.test.ts (6 tests | 1 failed) 5031 ms',
  '   × refunds a partial payment once',
  '     → expected 1 call, got 2',
  '',
  'Reading services/checkout/src/payments/refund.ts …',
];

/** What makes an agent of the story stand where it stands. */
const standing = (index: number, now: number): Partial<AgentRow> => {
  const at = (minutes: number) => now - minutes * MINUTE;
  const evidence = (signal: string, words: string, value: number, limit: number) =>
    [
      { signal, axis: 'absence', words, onsetAt: at(3), value, limit, hard: false, matched: null, confidence: 'high' },
    ] as const;
  switch (index) {
    case 3:
      return {
        ...{ state: 'STUCK', stateFrom: 'HEALTHY', since: at(3), reason: 'no call for 9 min 2 s; limit 6 min' },
        ...{ evidence: evidence('no_calls', 'no call for 9 min 2 s; limit 6 min', 542_000, 360_000) },
        ...{ caseId: 'case-3f61c0', caseWaiting: true, tail: TAIL, episodeId: 'e-3' },
      };
    case 17:
      return {
        ...{ state: 'FAILING', stateFrom: 'STUCK', since: at(11), reason: '14 calls failed in a row; limit 8' },
        ...{ evidence: evidence('failing_calls', '14 calls failed in a row; limit 8', 14, 8), caseId: 'case-91b2aa' },
        caseWaiting: true,
      };
    case 41:
      return {
        ...{ state: 'STUCK', stateFrom: 'DEGRADED', since: at(1.5), caseId: 'case-7d0e12' },
        reason: 'the same call 12 times in 4 min; limit 8',
        evidence: evidence('repeated_call', 'the same call 12 times in 4 min; limit 8', 12, 8),
      };
    case 58:
    case 59:
    case 112:
      return {
        ...{ state: 'DEGRADED', stateFrom: 'HEALTHY', since: at(index / 20), reason: 'context 91 %; limit 85 %' },
        evidence: evidence('context', 'context 91 %; limit 85 %', 91, 85),
      };
    case 73:
      return {
        ...{ exemption: 'awaiting_input', exemptionSince: at(6), activity: 'waiting' },
        waitingFor: { kind: 'permission', text: 'Run: git push --force-with-lease origin release/4.2', since: at(6) },
      };
    case 88:
      return {
        ...{ exemption: 'awaiting_input', exemptionSince: at(22), activity: 'waiting' },
        waitingFor: {
          kind: 'question',
          text: 'Two migrations change the same column. Which one stays?',
          since: at(22),
        },
      };
    case 95:
      return {
        ...{ exemption: 'awaiting_input', exemptionSince: at(3), activity: 'waiting' },
        waitingFor: { kind: 'permission', text: 'Fetch: https://status.example.com/api', since: at(3) },
      };
    case 96:
      return {
        ...{ exemption: 'awaiting_input', exemptionSince: at(1), activity: 'waiting' },
        waitingFor: { kind: 'permission', text: 'Edit: .github/workflows/release.yml', since: at(1) },
      };
    case 101:
      return { held: true, heldBy: 'ada', heldWhy: 'I am looking at its branch', heldUntil: now + 40 * MINUTE };
    case 130:
      return {
        state: 'TERMINATED',
        stateFrom: 'FAILING',
        since: at(18),
        endReason: 'crashed',
        exitCode: 137,
        present: false,
      };
    default:
      if (index % 23 === 5)
        return {
          state: 'TERMINATED',
          since: at(30 + index),
          endReason: 'finished',
          reason: 'finished',
          present: false,
        };
      if (index % 17 === 4) return { exemption: 'rate_limited', exemptionSince: at(2), exemptionSuspends: ['absence'] };
      return index % 19 === 7
        ? { exemption: 'tool_running', exemptionSince: at(4), exemptionSuspends: ['absence'] }
        : {};
  }
};

/** The fleet of a story: the first agents have names and standings that views and tests refer to. */
export const agentsOf = (count: number, now: number): AgentRow[] => {
  const random = randomFrom(7);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  return Array.from({ length: count }, (_, index) => {
    const service = pick(SERVICES);
    const own = standing(index, now);
    const since = now - Math.floor(random() * 300) * MINUTE - Math.floor(random() * MINUTE);
    return {
      ...HEALTHY,
      agentId: `${service}-${pick(WORK)}-${String(index + 1).padStart(2, '0')}`,
      since,
      instanceSince: since,
      taskId: `OMN-${4100 + index}`,
      runtimeId: `build-${1 + (index % 8)}`,
      host: `build-${1 + (index % 8)}`,
      model: pick(['opus-5', 'sonnet-5', 'gpt-6-codex']),
      client: pick(['claude-code', 'codex', 'gemini-cli']),
      labels: { team: pick(['payments', 'platform', 'growth']), repo: service },
      policyName: index % 9 === 0 ? 'coditect' : 'vigil',
      lastHeartbeatAt: now - Math.floor(random() * 9000),
      phase: pick(PHASES),
      progress: `${1 + Math.floor(random() * 6)} of ${7 + Math.floor(random() * 5)}`,
      tokens: Math.floor(random() * 900_000),
      verified: `runtime build-${1 + (index % 8)}`,
      lastOutputAt: now - Math.floor(random() * 30_000),
      tail: TAIL.slice(0, 6),
      ...own,
      unhealthy: own.state !== undefined && own.state !== 'HEALTHY' && own.endReason !== 'finished',
    };
  });
};
