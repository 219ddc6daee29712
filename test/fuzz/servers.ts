import { randomUUID } from 'node:crypto';
import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import type { ReadModel } from '@vigil/read-model';
import { hashOfToken } from '@vigil/read-model/people';
import type { Log } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { quiet } from '@vigil/stream/testing';
import { readConfig } from '../../packages/chassis/src/config.ts';
import { signLink } from '../../packages/chassis/src/decision-link.ts';
import { listen } from '../../packages/chassis/src/probes.ts';
import type { Logger } from '../../packages/chassis/src/service.ts';
import { openSessions } from '../../services/dashboard/src/access/sessions.ts';
import { openApp } from '../../services/dashboard/src/app.ts';
import { openCommandWriter, WRITE_LIMIT_MS } from '../../services/dashboard/src/commands/command-writer.ts';
import { openExports } from '../../services/dashboard/src/replays/export.ts';
import { foldAgain } from '../../services/dashboard/src/replays/fold.ts';
import { openReplays, RUN_LIMIT_MS } from '../../services/dashboard/src/replays/replays.ts';
import { config } from '../../services/gateway/src/config.ts';
import { openGateway } from '../../services/gateway/src/gateway.ts';
import { createTokenSigner } from '../../services/gateway/src/http/token-signing.ts';

/**
 * The gateway on a log in memory, and the dashboard on a read model of a few rows, in a process of their own. To each message of its parent it
 * answers with its resident memory after a collection, in bytes.
 */
export type Started = {
  readonly gateway: string;
  readonly dashboard: string;
  readonly gatewayTokens: readonly string[];
  readonly dashboardToken: string;
  readonly link: string;
};

const SECRET = 'a-secret-for-tests-only-of-some-length';
const TOKEN = 'a-token-for-tests-only';
/** More than any run sends, so that quotas hide nothing. */
const MANY = '100000';

const env = {
  ...{ KAFKA_BROKERS: 'memory:1', SCHEMA_REGISTRY_URL: 'http://memory' },
  ...{ VIGIL_GATEWAY_TOKEN: TOKEN, VIGIL_GATEWAY_SECRET: SECRET, VIGIL_GATEWAY_NAME: 'a' },
  ...{ VIGIL_TOKEN_REQUESTS_PER_S: MANY, VIGIL_TOKEN_AGENTS: MANY, VIGIL_TOKEN_TASKS: MANY },
};

const policy = { name: 'vigil', hash: 'h1', document: '{"heartbeat":{"interval":"30s"}}', withdrawn: false };

const openGatewayHere = async () => {
  const log = new MemoryLog();
  await log.publish(example(Topic.policy, 'POLICY_PUBLISHED', policy));
  // Kafka would keep them elsewhere, so they are no memory of the gateway.
  const write: Log['write'] = (records) => log.write(records.filter(({ topic }) => topic !== Topic.heartbeat));
  const forgetful: Log = Object.assign(Object.create(log), { write });
  return openGateway(
    forgetful,
    { ...readConfig(config, env), VIGIL_GATEWAY_PORT: 0 },
    {
      logger: quiet.logger as Logger,
      count: () => {},
      signal: new AbortController().signal,
      now: Date.now,
    },
  );
};

const gatewayTokens = async (): Promise<readonly string[]> => {
  const claims = { tasks: ['*'], labels: { team: ['*'] }, policies: ['vigil'], capacity: 100 };
  const issuedAt = Date.now();
  const sign = (kind: 'agent' | 'runtime', name: string) =>
    createTokenSigner([SECRET]).sign({ ...claims, id: name, kind, name, issuedAt, expiresAt: issuedAt + 3_600_000 });
  return [TOKEN, await sign('agent', 'worker-1'), await sign('runtime', 'host-1')];
};

const AGENT = { state: 'STUCK', agentId: 'worker-1', instanceId: 'i1', taskId: 'T-1', runtimeId: 'host-1', labels: {} };
const OPTIONS = ['allow_more_time', 'pardon', 'terminate_and_recover'];
const OPEN = { waiting: true, escalationAt: 0, escalationDeadlineAt: null, escalationOptions: OPTIONS };
const QUESTION = { ...OPEN, decision: null, decisionAt: null, decisionBy: null, ending: null };

const model = new Proxy(
  {
    agent: async (id: string) => (id === 'worker-1' ? AGENT : null),
    agents: async () => [AGENT],
    case: async (id: string) =>
      id === 'case-1' ? { caseId: id, ...AGENT, closedAt: null, escalationReason: '<b>', ...QUESTION } : null,
    task: async (id: string) => (id === 'T-1' ? { taskId: id, recovery: 'REVIEW_REQUIRED', recoveryAt: 0 } : null),
    policyDocument: async () => null,
    fleet: async () => ({ halted: false, braked: false, dryRun: false }),
  },
  { get: (known, name) => Reflect.get(known, name) ?? (async () => []) },
) as unknown as ReadModel;

const openDashboardHere = async (key: string): Promise<string> => {
  const log = new MemoryLog();
  const stop = new AbortController();
  const app = openApp({
    ...{ tls: null, model, hosts: ['vigil.example'], linkKey: key, newId: randomUUID, now: Date.now },
    people: { callerOfHash: (hash) => (hash === hashOfToken(TOKEN) ? { name: 'ada', role: 'admin' } : null) },
    sessions: openSessions({ random: randomUUID, now: Date.now }),
    ...{ isSecure: false, pageFolder: import.meta.dirname },
    log,
    feed: {
      listen: () => ({ stop: () => {}, begun: Promise.resolve() }),
      listenToTerminals: () => ({ stop: () => {}, begun: Promise.resolve() }),
      finished: new Promise<never>(() => {}),
      ready: () => true,
    },
    changes: { listen: () => () => {} },
    write: async () => {},
    speeds: async () => ({}) as never,
    commands: openCommandWriter({
      log,
      writer: { writeNamed: async () => {} },
      limitMs: WRITE_LIMIT_MS,
      newEventId: randomUUID,
      onFailure: (error) => console.error(error),
    }),
    // It folds an empty log, and so ends at once.
    replays: openReplays({
      ...{ run: (...asked) => foldAgain(log, ...asked), limitMs: RUN_LIMIT_MS, newId: randomUUID, now: Date.now },
      ...{ onFailure: (error: unknown) => console.error(error), signal: stop.signal },
    }),
    exports: openExports({
      ...{ run: async (_, output) => void output.write('a span'), limitMs: RUN_LIMIT_MS, signal: stop.signal },
    }),
    signalsOf: async () => null,
    doctor: async () => ({}) as never,
    knowledge: () => ({ upTo: null, blindSince: null, away: [] }),
    refusals: { record: () => {}, [Symbol.dispose]: () => {} },
    onFailure: (error) => console.error(error),
    onTerminal: () => {},
    signal: stop.signal,
  });
  return listen(app, '127.0.0.1', 0, 'the port');
};

const started: Started = {
  gateway: (await openGatewayHere()).url,
  dashboard: await openDashboardHere(SECRET),
  gatewayTokens: await gatewayTokens(),
  dashboardToken: TOKEN,
  link: await signLink(SECRET, {
    ...{ kind: 'decide_case', subject: 'case-1', decision: 'pardon', channel: 'ops', deadlineAt: null },
    sentAt: Date.now(),
  }),
};

process.on('message', () => {
  globalThis.gc?.();
  process.send?.(process.memoryUsage().rss);
});
process.on('disconnect', () => process.exit(0));
process.send?.(started);
