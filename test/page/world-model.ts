import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { type ContentOf, type HealthEvent, Topic, type TopicName } from '@vigil/events';
import type { AgentRow, Change, Changes, Entry, Knowledge } from '@vigil/read-model';
import { hashOfToken, type Role } from '@vigil/read-model/people';
import { writer } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { openSessions } from '../../services/dashboard/src/access/sessions.ts';
import { openApp } from '../../services/dashboard/src/app.ts';
import { openCommandWriter, WRITE_LIMIT_MS } from '../../services/dashboard/src/commands/command-writer.ts';
import type { Feed } from '../../services/dashboard/src/feed.ts';
import { openExports } from '../../services/dashboard/src/replays/export.ts';
import { openReplays } from '../../services/dashboard/src/replays/replays.ts';
import { modelOf, rowsOf } from './world-read-model.ts';
import { replayResult } from './world-replays.ts';
import { judgedOf } from './world-story.ts';

/** The page, as the bundles have it. */
const BUILT_PAGE = path.join(import.meta.dirname, '../../.cache/bundles/page');

const TOKEN = 'a-token-for-tests-of-the-page-only';
/** Signs decision links to this world. */
export const LINK_KEY = 'a-key-for-tests-of-the-page-only';

export const caused = (type: string, payload: Entry['payload']): Entry => ({
  ...{ eventId: randomUUID(), at: 0, type, agentId: null, taskId: null, caseId: null, payload },
});

/** What became of a command whose outcome no test cares about. */
const APPLIED: readonly Entry[] = [caused('ALERT_ACKNOWLEDGED', { by: 'ada' })];

/**
 * The dashboard's own app for tests of the page, over real HTTP: its headers, logins, roles, routes and commands. Its read
 * model is a fleet in memory whose rows a test changes, and its log is in memory.
 */
export const openWorld = async (count: number, now: () => number = Date.now) => {
  const rows = rowsOf(count, now());
  const state = {
    role: 'operator' as Role,
    /** null: the knowledge is current */
    knowledge: null as Knowledge | null,
    /** requests are not answered */
    isSilent: false,
    /** what the next commands have caused; empty: they wait until a test changes it */
    outcome: APPLIED,
    /** replays run until a test ends them */
    holdsReplays: false,
  };
  const heldReplays = new Set<() => void>();

  const log = new MemoryLog({ now });
  const out = writer(log, now);
  const stop = new AbortController();
  const streams = new Set<ServerResponse>();
  const listeners = new Set<Parameters<Changes['listen']>[0]>();
  const terminalListeners = new Set<Parameters<Feed['listenToTerminals']>[0]>();

  const change = (...changes: readonly Change[]): void => {
    for (const listener of listeners) listener(changes);
  };
  const changeAgent = (id: string, more: Partial<AgentRow>): void => {
    rows.agents = rows.agents.map((one) => (one.agentId === id ? { ...one, ...more } : one));
    change(['agents', id]);
  };

  const feed: Feed = {
    listen: () => ({ stop: () => {}, begun: Promise.resolve() }),
    listenToTerminals: (listener) => {
      terminalListeners.add(listener);
      return { stop: () => terminalListeners.delete(listener), begun: Promise.resolve() };
    },
    finished: new Promise(() => {}),
    ready: () => true,
  };

  const replays = openReplays({
    run: (spec, onProgress, signal) =>
      new Promise((resolve, reject) => {
        onProgress(41_280, 120_000);
        const end = (): void => resolve(replayResult(spec, rows.agents, now()));
        signal.addEventListener('abort', () => reject(signal.reason));
        if (state.holdsReplays) heldReplays.add(end);
        else end();
      }),
    ...{ limitMs: 3_600_000, newId: randomUUID, now, signal: stop.signal },
    onFailure: (error) => console.error(error),
  });

  const app = openApp({
    ...{ tls: null, isSecure: false, pageFolder: BUILT_PAGE, hosts: [], linkKey: LINK_KEY, log, feed, now },
    newId: randomUUID,
    replays,
    exports: openExports({
      run: async (span, output) => void output.write(JSON.stringify(span)),
      ...{ limitMs: 3_600_000, signal: stop.signal },
    }),
    people: { callerOfHash: (hash) => (hash === hashOfToken(TOKEN) ? { name: 'ada', role: state.role } : null) },
    sessions: openSessions({ random: randomUUID, now }),
    model: modelOf(rows, () => state.outcome, now),
    changes: {
      listen: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    write: (draft) => out.write([draft]),
    commands: openCommandWriter({
      log,
      writer: out,
      limitMs: WRITE_LIMIT_MS,
      newEventId: randomUUID,
      onFailure: (error) => console.error(error),
    }),
    signalsOf: async (id) => {
      const agent = rows.agents.find(({ agentId }) => agentId === id);
      return agent === undefined ? null : judgedOf(agent, now());
    },
    doctor: () => Promise.reject(new Error('the world of a test has no services')),
    speeds: async () => ({
      check: { count: 48_210, p95AtMostMs: 25 },
      heartbeat: { count: 51_774, p95AtMostMs: 10 },
      transition: { count: 41, p95AtMostMs: 500 },
    }),
    knowledge: () => state.knowledge ?? { upTo: now() - 400, blindSince: null, away: [] },
    refusals: { record: () => {}, [Symbol.dispose]: () => {} },
    onFailure: (error) => console.error(error),
    onTerminal: () => {},
    signal: stop.signal,
  });
  app.addHook('onRequest', async ({ url }, reply) => {
    if (state.isSilent) await new Promise(() => {});
    if (!url.startsWith('/v1/changes')) return;
    streams.add(reply.raw);
    reply.raw.on('close', () => streams.delete(reply.raw));
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });

  return {
    ...{ rows, state, streams, change, changeAgent, url, replays, token: TOKEN },
    endReplays: (): void => {
      for (const end of heldReplays) end();
      heldReplays.clear();
    },
    /** the address of a login that works once, as `vigil login` gets it */
    loginAddress: async (): Promise<string> => {
      const headers = { authorization: `Bearer ${TOKEN}` };
      const answer = await fetch(`${url}/v1/login-links`, { method: 'POST', headers });
      return `${url}${((await answer.json()) as { readonly path: string }).path}`;
    },
    /** what a runtime publishes of a terminal */
    publishTerminal: (event: TerminalContent): void => {
      for (const listener of terminalListeners) listener({ ...ENVELOPE, ...event, occurredAt: now() } as TerminalEvent);
    },
    /** the commands in the log */
    written: (topic: TopicName): readonly HealthEvent[] => log.events(topic),
    /** what another place than this page may do as well; no stream reports it */
    answerRequest: (id: string, option: string, by: string): void => {
      const settled = { settled: 'answered', settledOption: option, settledBy: by, settledAt: now() } as const;
      rows.requests = rows.requests.map((one) => (one.requestId === id ? { ...one, ...settled } : one));
    },
    /** ends the streams of changes, as a restart does */
    dropStreams: () => {
      for (const stream of streams) stream.destroy();
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await app.close();
    },
  };
};
export type World = Awaited<ReturnType<typeof openWorld>>;

/** One replay of each kind, whose result is there. */
export const startReplays = ({ replays, state }: World): readonly string[] => {
  state.holdsReplays = false;
  const span = { from: null, to: null, agent: null };
  const policy = { name: 'strict', hash: '91be04c7d2a3' };
  return [
    replays.start({ spec: { kind: 'verify', span }, policy: null, by: 'grace' }),
    replays.start({ spec: { kind: 'what_if', span, document: '{}', insteadOf: 'all' }, policy, by: 'ada' }),
  ].map(({ replayId }) => replayId);
};

type TerminalEvent = Parameters<Parameters<Feed['listenToTerminals']>[0]>[0];
type TerminalContent = ContentOf<typeof Topic.agentTerminal>;

const ENVELOPE = { topic: Topic.agentTerminal, eventId: 'e-1', correlationId: 'e-1', causationId: null };
