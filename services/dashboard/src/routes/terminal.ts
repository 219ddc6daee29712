import type { EventOf, Topic as Topics } from '@vigil/events';
import { Topic } from '@vigil/events';
import type { AgentRow, ReadModel } from '@vigil/read-model';
import type { FastifyInstance } from 'fastify';
import { type Caller, signed } from '../access/people.ts';
import type { CommandDraft } from '../commands/command.ts';
import type { Feed } from '../feed.ts';
import { found, Problem } from '../problem.ts';
import * as queries from './queries.ts';
import { queryOf } from './read.ts';
import type { Stream, Streams } from './streams.ts';

/** How long a runtime publishes a terminal after the last renewal, and how often the lease is renewed, milliseconds. */
export const LEASE_MS = 30_000;
export const RENEW_MS = 10_000;
/** A runtime reports a terminal at least every five seconds. Without a report for this time it counts as away, milliseconds. */
export const AWAY_AFTER_MS = 15_000;
const LOOK_MS = 1000;

const WHY = 'to see its terminal';

type TerminalEvent = EventOf<typeof Topics.agentTerminal>;

/**
 * What a viewer receives. Times are epoch milliseconds. `status`: `waiting` for the first lines, `live`, `away`: the runtime has not reported
 * since then, `closed`: see the message before. `outputAt`: by the clock of the agent's host.
 */
export type TerminalMessage =
  | {
      readonly kind: 'status';
      readonly status: 'waiting' | 'live' | 'away' | 'closed';
      readonly since: number;
      readonly runtimeId: string;
    }
  | ({ readonly kind: 'whole' } & Lines)
  | ({ readonly kind: 'change'; readonly removed: number; readonly kept: number } & Lines)
  | { readonly kind: 'closed'; readonly why: string; readonly at: number };
type Lines = {
  readonly lines: readonly string[];
  readonly instanceId: string;
  readonly at: number;
  readonly unseen: number;
  readonly outputAt: number | null;
};

export type TerminalDeps = {
  readonly model: ReadModel;
  readonly feed: Pick<Feed, 'listenToTerminals'>;
  /** writes a lease */
  readonly write: (draft: CommandDraft) => Promise<unknown>;
  readonly streams: Streams;
  readonly newId: () => string;
  readonly now: () => number;
  readonly onFailure: (error: unknown) => void;
  /** records who sees the terminal of an agent, and why */
  readonly onTerminal: (shown: { readonly agentId: string; readonly by: string; readonly why: string }) => void;
};

/** The runtime that has its terminal. Throws Problem if it has none. */
const runtimeOf = ({ agentId, runtimeId, state }: AgentRow): string => {
  const detail =
    runtimeId === null
      ? `${agentId} runs without a runtime: only an agent that \`vigil run\` or \`vigil runtime\` has started has a terminal.`
      : state === 'TERMINATED'
        ? `${agentId} has ended: its row has its last output.`
        : null;
  if (detail !== null || runtimeId === null) throw new Problem(409, 'no_terminal', detail ?? '');
  return runtimeId;
};

/** Follows what the runtime publishes. A change before the first complete lines means nothing, and is left out. */
const createViewer = (runtimeId: string, now: () => number, send: (message: TerminalMessage) => void) => {
  let sequence: number | null = null;
  let heardAt = now();
  let status: 'waiting' | 'live' | 'away' | 'closed' | null = null;

  const report = (next: 'waiting' | 'live' | 'away' | 'closed', since: number): void => {
    if (next === status) return;
    status = next;
    send({ kind: 'status', status: next, since, runtimeId });
  };

  return {
    begin: () => report('waiting', heardAt),
    observe: ({ type, payload, occurredAt: at }: TerminalEvent): void => {
      heardAt = now();
      if (type === 'TERMINAL_CLOSED') {
        sequence = null;
        send({ kind: 'closed', why: payload.why, at });
        report('closed', at);
        return;
      }
      const { lines, instanceId, unseen, outputAt, removed, kept } = payload;
      const isNext = sequence !== null && payload.sequence === sequence + 1;
      if (payload.sequence !== 0 && !isNext) return;
      sequence = payload.sequence;
      const shown = { lines, instanceId, at, unseen, outputAt };
      send(sequence === 0 ? { kind: 'whole', ...shown } : { kind: 'change', removed, kept, ...shown });
      report('live', at);
    },
    look: (): void => {
      if (status !== 'closed' && now() - heardAt >= AWAY_AFTER_MS) report('away', heardAt);
    },
  };
};

/** The terminal of one agent, while the stream is open: the dashboard has a lease of it, and renews the lease. */
export const terminalRoutes = (app: FastifyInstance, deps: TerminalDeps): void => {
  const { model, feed, write, streams, newId, now, onFailure, onTerminal } = deps;

  const show = async (
    agentId: string,
    runtimeId: string,
    who: { by: string; why: string },
    stream: Stream,
    text: (message: TerminalMessage) => string,
  ) => {
    const leaseId = newId();
    const lease = (ttlMs: number): Promise<unknown> => {
      const payload = { agentId, leaseId, ttlMs, ...who };
      const draft: CommandDraft = { topic: Topic.leaseTerminal, type: 'LEASE_TERMINAL', key: agentId, payload };
      return write(draft).catch(onFailure);
    };
    const viewer = createViewer(runtimeId, now, (message) => stream.write(text(message)));
    const { stop, begun } = feed.listenToTerminals((event) => {
      if (event.payload.agentId === agentId) viewer.observe(event);
    });
    stream.ended.addEventListener('abort', stop);
    viewer.begin();
    await begun;
    if (stream.ended.aborted) return;
    await lease(LEASE_MS);
    const renewing = setInterval(() => void lease(LEASE_MS), RENEW_MS);
    const looking = setInterval(viewer.look, LOOK_MS);
    const end = () => {
      clearInterval(renewing);
      clearInterval(looking);
      void lease(0);
    };
    if (stream.ended.aborted) end();
    else stream.ended.addEventListener('abort', end);
  };

  app.get<{ Params: { id: string } }>('/v1/agents/:id/terminal', async (request, reply) => {
    const { why } = queryOf(queries.terminal, request.query);
    const { id } = request.params;
    const runtimeId = runtimeOf(found(await model.agent(id), 'agent', id, '`vigil health` (/v1/agents)'));
    const isEvents = request.headers.accept?.includes('text/event-stream') ?? false;
    const by = signed(request.getDecorator<Caller>('caller'), '');
    const stream = streams.open(request, reply, isEvents ? 'text/event-stream' : 'application/x-ndjson');
    onTerminal({ agentId: id, by, why: why ?? WHY });
    const text = (message: TerminalMessage): string =>
      isEvents ? `data: ${JSON.stringify(message)}\n\n` : `${JSON.stringify(message)}\n`;
    show(id, runtimeId, { by, why: why ?? WHY }, stream, text).catch((error: unknown) => {
      if (!stream.ended.aborted) onFailure(error);
      stream.end();
    });
    return reply;
  });
};
