import { Unfit } from '@vigil/events';
import type { WrittenCommand } from '@vigil/read-model';
import {
  isEvent,
  type Log,
  NoAnswer,
  partitionOf,
  RefusedByBroker,
  readEvent,
  type Writer,
  within,
} from '@vigil/stream';
import { Problem, Unconfirmed } from '../problem.ts';
import type { CommandDraft } from './command.ts';

export type CommandWriter = {
  /**
   * Writes a command, acknowledged by all replicas. `eventId`: the id that the caller gives, so that a retry is recognised; null: a new one.
   * `content`: what the command requests, compared with that of a retry. Throws Unconfirmed when the broker has not acknowledged in time: the write continues.
   */
  readonly write: (
    eventId: string | null,
    content: string,
    draftsOf: (eventId: string) => Promise<readonly CommandDraft[]>,
  ) => Promise<WrittenCommand>;
};

export type CommandWriterDeps = {
  readonly log: Pick<Log, 'codec' | 'bounds' | 'stableEnds' | 'read' | 'partitionCount'>;
  readonly writer: Pick<Writer, 'writeNamed'>;
  /** how long a caller waits, milliseconds */
  readonly limitMs: number;
  readonly newEventId: () => string;
  readonly onFailure: (error: unknown) => void;
};

/** Callers give up after 10 s. */
export const WRITE_LIMIT_MS = 5000;
/** A process recognises a retry among so many commands. Older ones are looked up in the log. */
const MOST_KNOWN = 1000;
/** A retry is looked up among the newest records of its partition. */
const LOOKED_UP = 2000;

type Known = { readonly content: string; readonly written: Promise<WrittenCommand> };

const another = (eventId: string): Problem =>
  new Problem(
    409,
    'another_command',
    `eventId: ${eventId} is the id of another command. Leave it out, or repeat the command unchanged.`,
    'eventId',
  );

/** The id of each event of a command. A retry has the same ids. */
const idOf = (eventId: string, { key }: CommandDraft, place: number): string =>
  place === 0 ? eventId : `${eventId}:${key}`;

/** An error after which nothing of the command is in the log. */
const isNotWritten = (error: unknown): boolean =>
  error instanceof Problem || error instanceof Unfit || error instanceof RefusedByBroker;

export const openCommandWriter = (deps: CommandWriterDeps): CommandWriter => {
  const { log, writer, limitMs, newEventId, onFailure } = deps;
  const known = new Map<string, Known>();

  const isInLog = async (eventId: string, { topic, key }: CommandDraft): Promise<boolean> => {
    const partition = partitionOf(key, await log.partitionCount(topic));
    const [bounds, ends] = await Promise.all([log.bounds(topic), log.stableEnds(topic)]);
    const high = ends[partition] ?? 0;
    const low = Math.max(bounds[partition]?.low ?? 0, high - LOOKED_UP);
    const found: Promise<boolean>[] = [];
    const look = AbortSignal.timeout(limitMs);
    await log.read(
      topic,
      partition,
      { low, high },
      (record) => {
        if (!isEvent(record) || record.key !== key) return;
        found.push(
          readEvent(log.codec, record).then(
            (event) => event.eventId === eventId,
            () => false,
          ),
        );
      },
      look,
    );
    if (look.aborted) throw new NoAnswer(`the newest commands of ${topic} could not be read in time`);
    return (await Promise.all(found)).includes(true);
  };

  const writeAll = async (
    eventId: string,
    mayBeRetry: boolean,
    draftsOf: (eventId: string) => Promise<readonly CommandDraft[]>,
  ): Promise<WrittenCommand> => {
    const drafts = await draftsOf(eventId);
    const [first, ...more] = drafts;
    if (first === undefined) throw new Error('a command is written as at least one event');
    const events = drafts.map((draft, place) => ({ eventId: idOf(eventId, draft, place), draft }));
    const isThere = await Promise.all(events.map((one) => mayBeRetry && isInLog(one.eventId, one.draft)));
    const missing = events.filter((_, place) => !isThere[place]);
    if (missing.length > 0) await writer.writeNamed(missing);
    const { topic, type, key } = first;
    const alsoFor = more.map((draft) => draft.key);
    return { eventId, topic, type, key, alsoFor, eventIds: events.map((one) => one.eventId) };
  };

  const remember = (eventId: string, one: Known): void => {
    known.set(eventId, one);
    for (const oldest of known.keys()) if (known.size > MOST_KNOWN) known.delete(oldest);
    // A retry of what has failed is looked up in the log.
    one.written.catch(() => known.delete(eventId));
  };

  return {
    write: async (given, content, draftsOf) => {
      const eventId = given ?? newEventId();
      const earlier = known.get(eventId);
      if (earlier !== undefined && earlier.content !== content) throw another(eventId);
      const written = earlier?.written ?? writeAll(eventId, given !== null, draftsOf);
      if (earlier === undefined) remember(eventId, { content, written });
      try {
        return await within(limitMs, written, 'a write of a command');
      } catch (error) {
        if (isNotWritten(error)) throw error;
        if (!(error instanceof NoAnswer)) onFailure(error);
        throw new Unconfirmed(eventId, limitMs);
      }
    },
  };
};
