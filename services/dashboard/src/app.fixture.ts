import type { Draft, HealthEvent } from '@vigil/events';
import type { Changes, Knowledge, ReadModel } from '@vigil/read-model';
import { hashOfToken } from '@vigil/read-model/people';
import type { LogRecord } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import type { Caller } from './access/people.ts';
import { openSessions } from './access/sessions.ts';
import { type AppDeps, openApp } from './app.ts';
import { openCommandWriter } from './commands/command-writer.ts';
import type { Feed } from './feed.ts';
import { openExports } from './replays/export.ts';
import { openReplays, type RunReplay } from './replays/replays.ts';

export const LINK_KEY = 'a-key-for-tests-only-of-some-length';
export const TOKEN = 'a-token-for-tests-only';
const CALLERS: Readonly<Record<string, Caller>> = {
  [TOKEN]: { name: 'ada', role: 'admin' },
  viewer: { name: 'vera', role: 'viewer' },
  responder: { name: 'rob', role: 'responder' },
  operator: { name: 'olga', role: 'operator' },
  ...Object.fromEntries(
    Array.from({ length: 16 }, (_, i) => [`viewer-${i}`, { name: `vera-${i}`, role: 'viewer' } as const]),
  ),
};
const tokenOf = (hash: string): string => Object.keys(CALLERS).find((token) => hashOfToken(token) === hash) ?? '';

export const agent = {
  agentId: 'worker-1',
  instanceId: 'i1',
  taskId: 'T-1',
  runtimeId: 'host-1',
  labels: {},
  held: true,
  heldUntil: null,
};
export const openCase = { caseId: 'case-1', agentId: 'worker-1', closedAt: null };

/** A request that waits for an answer. */
export const openRequest = {
  ...{ requestId: 'request-1', agentId: 'worker-1', instanceId: 'i1', settled: null },
  options: [{ name: 'allow', label: 'Allow' }],
  questions: [],
};

/** A replay that runs until it is ended. */
const lastingRun: RunReplay = (_, __, signal) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

/** Of all dashboards: none repeats what another has drawn. */
let randoms = 0;

/** The app over prepared answers; its written events are kept. */
export const dashboard = (answers: object = {}, pageFolder = '/no-page', given: Partial<AppDeps> = {}) => {
  const written: Draft[] = [];
  const failures: unknown[] = [];
  const refusals: object[] = [];
  const terminals: object[] = [];
  const clock = { now: 1000 };
  const knowledge: { current: Knowledge } = { current: { upTo: 900, blindSince: null, away: [] } };
  const revoked = new Set<string>();
  const model = {
    agents: async (filter: object) => [{ ...agent, filter }],
    agent: async (id: string) => (id === 'worker-1' ? agent : null),
    case: async (id: string) => (id === 'case-1' ? openCase : null),
    request: async (id: string) => (id === 'request-1' ? openRequest : null),
    task: async () => null,
    tickets: async ({ ticketId }: { ticketId: string }) =>
      ticketId === 't-1' ? [{ ticketId, alertKey: 'escalation_ticket:T-1' }] : [],
    expiredRequests: async () => [],
    outcomes: async () => [],
    alerts: async () => [{ alertId: 'alert-1', alertKey: 'stuck_agent:T-1', resolvedAt: null, acknowledgedAt: null }],
    silences: async () => [{ silenceId: 'silence-1', matchers: [{ field: 'route', value: 'stuck_agent' }] }],
    ...answers,
  } as unknown as ReadModel;
  const listeners = new Set<(event: HealthEvent) => void>();
  const terminalListeners = new Set<Parameters<Feed['listenToTerminals']>[0]>();
  const changeListeners = new Set<Parameters<Changes['listen']>[0]>();
  let commands = 0;
  let replays = 0;
  const stop = new AbortController();
  const app = openApp({
    tls: null,
    people: { callerOfHash: (hash) => (revoked.has(tokenOf(hash)) ? null : (CALLERS[tokenOf(hash)] ?? null)) },
    sessions: openSessions({ random: () => `random-${++randoms}`, now: () => clock.now }),
    isSecure: false,
    pageFolder,
    model,
    feed: {
      listen: (listener) => {
        const listen = (event: HealthEvent) => listener(event, {} as LogRecord);
        listeners.add(listen);
        return { stop: () => listeners.delete(listen), begun: Promise.resolve() };
      },
      listenToTerminals: (listener) => {
        terminalListeners.add(listener);
        return { stop: () => terminalListeners.delete(listener), begun: Promise.resolve() };
      },
      finished: new Promise(() => {}),
      ready: () => true,
    },
    log: new MemoryLog(),
    changes: {
      listen: (listener) => {
        changeListeners.add(listener);
        return () => changeListeners.delete(listener);
      },
    },
    write: async (draft) => void written.push(draft),
    commands: openCommandWriter({
      log: new MemoryLog(),
      writer: { writeNamed: async (events) => void written.push(...events.map(({ draft }) => draft)) },
      limitMs: 5000,
      newEventId: () => `event-${++commands}`,
      onFailure: (error) => failures.push(error),
    }),
    signalsOf: async () => null,
    linkKey: LINK_KEY,
    newId: () => 'lease-1',
    replays: openReplays({
      ...{ run: lastingRun, limitMs: 3_600_000, newId: () => `replay-${++replays}`, now: () => clock.now },
      ...{ onFailure: (error: unknown) => void failures.push(error), signal: stop.signal },
    }),
    exports: openExports({
      run: async (span, output) => void output.write(JSON.stringify(span)),
      ...{ limitMs: 3_600_000, signal: stop.signal },
    }),
    doctor: async () => ({}) as never,
    speeds: async () => ({}) as never,
    knowledge: () => knowledge.current,
    now: () => clock.now,
    refusals: { record: (refused) => void refusals.push(refused), [Symbol.dispose]: () => {} },
    hosts: ['vigil.example'],
    onFailure: (error) => failures.push(error),
    onTerminal: (shown) => terminals.push(shown),
    signal: stop.signal,
    ...given,
  });
  const request = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, payload?: object) =>
    app.inject({ method, url, headers: { authorization: `Bearer ${TOKEN}` }, ...(payload && { payload }) });
  const all = { listeners, terminalListeners, changeListeners };
  return { app, clock, knowledge, request, written, failures, refusals, terminals, revoked, ...all, stop };
};
