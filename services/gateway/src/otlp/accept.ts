import { readTelemetry, type TelemetryRecord } from '@vigil/adapters/telemetry';
import type { Heartbeat } from '@vigil/events';
import { z } from 'zod';
import { acceptHeartbeats, type Behind } from '../answers.ts';
import { Problem } from '../problem.ts';
import type { Owner, Reported, Sessions } from '../sessions/sessions.ts';
import type { Holder } from '../tokens.ts';
import { decodeExport, type Signal } from './messages.ts';
import { ownerOf } from './owner.ts';
import { recordsIn } from './read.ts';

type Story = { readonly owner: Owner; readonly reported: Reported };

/** The sessions in a request, with what they report in order. */
const storiesIn = (
  signal: Signal,
  records: readonly TelemetryRecord[],
  holder: Holder,
  newestOf: Sessions['newestOf'],
): readonly Story[] => {
  const stories = new Map<string, Story>();
  for (const { record, telemetry } of readTelemetry(records)) {
    const owner = ownerOf(telemetry, record.resource, holder, newestOf);
    if (owner === null) continue;
    const key = JSON.stringify([owner.client, owner.sessionId, owner.agentId]);
    const before = stories.get(key)?.reported;
    const beganAt = Math.min(before?.beganAt ?? record.at, record.startedAt ?? record.at);
    const events = [...(before?.events ?? []), ...telemetry.events];
    const readings = [...(before?.readings ?? []), ...telemetry.readings];
    stories.set(key, { owner, reported: { source: signal, events, readings, beganAt } });
  }
  return [...stories.values()];
};

/** An agent that a runtime watches is reported by that runtime, which knows more. */
const isWatched = ({ owners, now }: Behind, { agentId }: Owner): boolean => {
  const known = owners.of(agentId, now());
  return known?.present === true && known.runtimeId !== null;
};

const readRequest = (signal: Signal, body: unknown): readonly TelemetryRecord[] => {
  try {
    return recordsIn(signal, Buffer.isBuffer(body) ? decodeExport(signal, body) : body);
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new Problem(400, 'bad_telemetry', `the body is not an OTLP request for ${signal}: ${why.slice(0, 500)}`);
  }
};

/** Answers when every replica has what the telemetry reports. Telemetry of other programs is accepted and ignored. Throws Problem. */
export const acceptTelemetry = async (
  behind: Behind,
  holder: Holder,
  signal: Signal,
  body: unknown,
): Promise<{ readonly ignored: string | null }> => {
  const stories = storiesIn(signal, readRequest(signal, body), holder, behind.sessions.newestOf);
  const own = stories.filter(({ owner }) => !isWatched(behind, owner));
  const now = behind.now();
  const heartbeats = own.flatMap(({ owner, reported }): readonly Heartbeat[] =>
    behind.sessions.fold(owner, reported, now),
  );
  if (heartbeats.length > 0) await acceptHeartbeats(behind, holder, heartbeats);
  const watched = stories.find(({ owner }) => isWatched(behind, owner));
  return {
    ignored:
      watched === undefined
        ? null
        : `a runtime watches ${watched.owner.agentId} and reports it; its telemetry is ignored`,
  };
};
