import type { AgentRow, Entry, Explanation, FleetRow, Knowledge } from '@vigil/read-model';
import { awaySince, isSameOutage } from '@vigil/read-model/knowledge';
import type { Client } from '../client.ts';
import { path } from '../commands/control/options.ts';
import { CannotProceed, NoAnswer, NoStates, Refusal } from '../errors.ts';
import { isNotRoutine } from '../render/describe.ts';
import { plain, plainAll } from '../render/plain.ts';

/** The watched state at one moment. */
export type Seen = {
  readonly agents: readonly AgentRow[];
  readonly story: readonly Entry[];
  readonly fleet: FleetRow;
  /** how many items `vigil inbox` has; null: an older dashboard does not report it */
  readonly inbox: number | null;
  readonly knowledge: Knowledge;
};

/**
 * The last answers, and how old they are. `agent`: the explanation of the opened agent; null: none is open. `seenAt`: when
 * the dashboard last answered, epoch milliseconds; null: never.
 */
export type Look = {
  readonly seen: Seen | null;
  readonly agent: Explanation | null;
  readonly knowledge: Knowledge;
  readonly seenAt: number | null;
};

/** Which agents are listed: the query of the dashboard, and what remains to be selected here. */
export type Selection = {
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly includes: (agent: AgentRow) => boolean;
};

export const NO_LOOK: Look = {
  ...{ seen: null, agent: null, seenAt: null },
  knowledge: { upTo: null, blindSince: null, away: [] },
};

/** From look to look. */
export const EVERY_MS = 1000;

const STORY = '100';
const DASHBOARD = 'the dashboard';

/** Throws CannotProceed or Refusal where the dashboard does not answer. */
export const readSeen = async (client: Client, { query, includes }: Selection): Promise<Seen> => {
  const [{ agents }, { story }, { fleet, knowledge }, { total }] = await Promise.all([
    client.get<{ agents: readonly AgentRow[] }>('/v1/agents', query),
    client.get<{ story: readonly Entry[] }>('/v1/story', { limit: STORY }),
    client.get<Pick<Seen, 'fleet' | 'knowledge'>>('/v1/fleet'),
    client.get<{ total?: number }>('/v1/inbox', { limit: '1' }),
  ]);
  return plainAll({ agents: agents.filter(includes), story, fleet, inbox: total ?? null, knowledge });
};

/**
 * Why the dashboard gave no states. `part`: what does not answer; `since`: since when, as the dashboard reports it, epoch
 * milliseconds; null: it reports nothing.
 */
export type Trouble = { readonly why: string; readonly part: string; readonly since: number | null };

/** What a view does not end for: the dashboard may be starting. Throws every other error again. */
export const troubleOf = (error: unknown): Trouble => {
  if (error instanceof NoStates) return { why: plain(error.message), part: plain(error.part), since: error.since };
  if (error instanceof NoAnswer) return { why: plain(error.why), part: DASHBOARD, since: null };
  if (error instanceof CannotProceed || error instanceof Refusal)
    return { why: plain(error.message), part: DASHBOARD, since: null };
  throw error;
};

/** Without an answer the last one remains, with the time since which it is not current. `now`: epoch milliseconds. */
export const withoutAnswer = (last: Look, { why, part, since: reported }: Trouble, now: number): Look => {
  const { upTo, blindSince, away } = last.knowledge;
  const sinceOf = (name: string) => away.find((one) => one.part === name)?.since;
  const lost = awaySince(upTo, last.seenAt ?? now);
  const ofOutage = blindSince !== null && isSameOutage(lost, blindSince) ? blindSince : lost;
  const since = reported ?? sinceOf(part) ?? ofOutage;
  // What answers now is not away, though it gives no states.
  const others = away.filter((one) => one.part !== part && (one.part !== DASHBOARD || reported === null));
  return {
    ...last,
    knowledge: {
      upTo,
      // A first estimate gives way to what the dashboard reports.
      blindSince: blindSince === null || blindSince === sinceOf(DASHBOARD) ? since : blindSince,
      away: [{ part, since, detail: why }, ...others],
    },
  };
};

/** Null: it has no such agent, or not yet. */
const explanationOf = async (client: Client, agentId: string): Promise<Explanation | null> => {
  try {
    return await client.get<Explanation>(path('agents', agentId, 'explain'));
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
};

/** What the dashboard answers now; see `withoutAnswer` for none. `opened`: the agent that is shown; null: the fleet. */
export const lookAgain = async (
  client: Client,
  selection: Selection,
  opened: string | null,
  last: Look,
): Promise<Look> => {
  try {
    const [seen, agent] = await Promise.all([
      readSeen(client, selection),
      opened === null ? null : explanationOf(client, opened),
    ]);
    return { seen, agent: plainAll(agent), knowledge: seen.knowledge, seenAt: Date.now() };
  } catch (error) {
    return withoutAnswer(last, troubleOf(error), Date.now());
  }
};

/** The entries that were not there before, for a terminal that cannot be redrawn. */
export const notShownYet = (known: ReadonlySet<string>, story: readonly Entry[]): readonly Entry[] =>
  story.filter((entry) => !known.has(entry.eventId) && isNotRoutine(entry));
