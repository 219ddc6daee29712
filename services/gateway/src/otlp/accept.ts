import { recordsIn, type Signal } from '@vigil/adapters/otlp';
import { readTelemetry, type TelemetryRecord } from '@vigil/adapters/telemetry';
import { z } from 'zod';
import { acceptHeartbeats, type GatewayContext } from '../http/answers.ts';
import { authorizeSession } from '../http/claims.ts';
import { Problem } from '../http/problem.ts';
import type { Principal } from '../http/tokens.ts';
import type { Reported, SessionIdentity, Sessions } from '../sessions/sessions.ts';
import { identityOf } from './identity.ts';
import { decodeExport } from './messages.ts';

type Story = { readonly session: SessionIdentity; readonly reported: Reported };

/** The sessions in a request, with what they report in order. */
const storiesIn = (
  signal: Signal,
  records: readonly TelemetryRecord[],
  principal: Principal,
  newestOf: Sessions['newestOf'],
): readonly Story[] => {
  const stories = new Map<string, Story>();
  for (const { record, telemetry } of readTelemetry(records)) {
    const session = identityOf(telemetry, record.resource, principal, newestOf);
    if (session === null) continue;
    const key = JSON.stringify([session.client, session.sessionId, session.agentId]);
    const before = stories.get(key)?.reported;
    const beganAt = Math.min(before?.beganAt ?? record.at, record.startedAt ?? record.at);
    const events = [...(before?.events ?? []), ...telemetry.events];
    const readings = [...(before?.readings ?? []), ...telemetry.readings];
    stories.set(key, { session, reported: { source: signal, events, readings, beganAt } });
  }
  return [...stories.values()];
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
  context: GatewayContext,
  principal: Principal,
  signal: Signal,
  body: unknown,
): Promise<{ readonly ignored: string | null }> => {
  const stories = storiesIn(signal, readRequest(signal, body), principal, context.sessions.newestOf);
  for (const { session } of stories) authorizeSession(principal, session);
  const now = context.now();
  const isWatched = ({ session: { agentId } }: Story): boolean => context.agentRegistry.isWatched(agentId, now);
  const heartbeats = stories
    .filter((story) => !isWatched(story))
    .flatMap(({ session, reported }) => context.sessions.fold(session, reported, now));
  if (heartbeats.length > 0) await acceptHeartbeats(context, principal, heartbeats);
  const watched = stories.find(isWatched);
  return {
    ignored:
      watched === undefined
        ? null
        : `a runtime watches ${watched.session.agentId} and reports it; its telemetry is ignored`,
  };
};
