import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { type Adapter, adapterNamed, recordedSession } from '@vigil/adapters';
import { recordsIn } from '@vigil/adapters/otlp';
import { recordedSameRuns, recordedStreams, recordedTranscripts } from '@vigil/adapters/recordings';
import { readTelemetry } from '@vigil/adapters/telemetry';
import { parseHeartbeat } from '@vigil/events';
import { sessionJudge } from '@vigil/health';
import { presetsWith } from '@vigil/health/fixture';
import { createSessions } from '../../../services/gateway/src/sessions/sessions.ts';
import { hookMoments, type Moment, Replay, type Replayed, replayedMoments, streamMoments } from './replay.ts';

/**
 * The sources of a session: the payloads of hooks, the client's output stream, its telemetry (OTLP), or afterwards the
 * client's own session file. Hooks, stream and file are recordings of one session, telemetry
 * of another session of the same scenario.
 */
export type Way = 'hooks' | 'stream' | 'telemetry' | 'file';

/** The states of the session's own agent that are not healthy, with the signals that fired and make the state. */
export type Findings = readonly { readonly to: string; readonly signals: readonly string[] }[] | 'unknown';

/** How a recording is cut. `hang`: the model does not answer after its first call has ended. */
export type Cut = 'whole' | 'hang';

const POLICIES = presetsWith('vigil');
const [POLICY] = POLICIES.all.filter(({ name }) => name === 'vigil');
const INTERVAL_MS = 30_000;
/** How long a hung session is watched, milliseconds. */
const WATCHED_MS = 900_000;

const hasCallEnd = (events: Moment['events']): boolean => events.some(({ kind }) => kind === 'call_ended');

/** Everything up to the end of the first call. */
const cutAfterCall = <P extends { readonly events: Moment['events'] }>(all: readonly P[], cut: Cut): readonly P[] =>
  cut === 'whole' ? all : all.slice(0, 1 + all.findIndex(({ events }) => hasCallEnd(events)));

const fileLines = ({ name, sessionFile }: Adapter, run: string) => {
  let state = sessionFile.initial;
  return (recordedTranscripts(name).get(run) ?? []).map(({ line }) => {
    const read = sessionFile.read(state, line);
    state = read.state;
    return { line, events: read.events };
  });
};

/** The signals that make a state. */
const signalsOf = (to: string): readonly string[] => {
  const uses = POLICY?.states.find(({ state }) => state === to)?.anyOf.flat() ?? [];
  return uses.flatMap((use) => POLICY?.uses[use]?.name ?? []);
};

/** The absence of a finding is known only if the source reports how calls and turns ended, or that a turn is open. */
const foundOrUnknown = (found: Findings, isKnown: boolean): Findings =>
  found.length === 0 && !isKnown ? 'unknown' : found;

const findingsOfReplay = ({ judged, isTurnOpen, hasUnknownEnd }: Replayed): Findings => {
  const flagged = judged.filter(({ agent, to }) => agent === 'a1' && to !== 'HEALTHY');
  const found = flagged.map(({ to, signals }) => ({
    to,
    signals: signals.filter((one) => signalsOf(to).includes(one)),
  }));
  return foundOrUnknown(found, isTurnOpen !== null && !hasUnknownEnd);
};

const watched = (moments: readonly Moment[], cut: Cut): Findings =>
  findingsOfReplay(replayedMoments(moments, POLICIES, INTERVAL_MS, cut === 'hang' ? WATCHED_MS : 0));

/** The judgement of `vigil evaluate`, up to the file's last entry. */
const ofFile = (adapter: Adapter, run: string, cut: Cut): Findings => {
  const lines = cutAfterCall(fileLines(adapter, run), cut).map(({ line }) => line);
  const { reports } = recordedSession(adapter, [lines]);
  if (POLICY === undefined) throw new Error('there is no policy vigil');
  const own = reports.filter(({ agent }) => agent === null);
  const judge = sessionJudge(POLICY);
  const [judged] = judge({
    id: 's1',
    reports: own.map(({ at, fields }) => ({ at, agent: 'a1', parent: null, fields })),
    isTimed: true,
    finished: [],
  });
  const found = (judged?.judged.changes ?? []).map(({ to, signals }) => ({ to, signals: [...signals].sort() }));
  return foundOrUnknown(found, own.at(-1)?.fields.turn?.open === false);
};

type Export = { readonly signal: 'logs' | 'metrics' | 'traces'; readonly json: unknown };

const exportsOf = (name: string): readonly Export[] =>
  gunzipSync(readFileSync(new URL(`../../../services/gateway/src/otlp/recordings/${name}.jsonl.gz`, import.meta.url)))
    .toString('utf8')
    .trim()
    .split('\n')
    .map((line): Export => JSON.parse(line));

/** The reports of the gateway for a client's exports. */
const ofTelemetry = (name: string, cut: Cut): Findings => {
  const reported = exportsOf(name).flatMap(({ signal, json }) =>
    readTelemetry(recordsIn(signal, json)).map(({ record, telemetry }) => ({ at: record.at, signal, ...telemetry })),
  );
  const moments = cutAfterCall(
    reported.sort((one, other) => one.at - other.at),
    cut,
  );
  const [origin, last] = [moments[0]?.at ?? 0, moments.at(-1)?.at ?? 0];
  const replay = new Replay(POLICIES, origin);
  const sessions = createSessions();
  for (const { at, client, sessionId, signal: source, events, readings } of moments) {
    const named = { agentId: 'a1', taskId: 'T-1', policy: null, labels: {} };
    const owner = { client, sessionId: sessionId ?? 's1', ...named, eventDriven: true };
    for (const heartbeat of sessions.fold(owner, { source, events, readings, beganAt: at }, at))
      replay.receive(at - origin, parseHeartbeat(heartbeat));
  }
  replay.passTo(last - origin + (cut === 'hang' ? WATCHED_MS : 0));
  return findingsOfReplay(replay);
};

/** The findings about a recorded session from one source. `exports`: the name of the recorded telemetry. */
export const findingsBy = (
  way: Way,
  { client, run, exports }: { readonly client: string; readonly run: string; readonly exports: string },
  cut: Cut,
): Findings => {
  const adapter = adapterNamed(client);
  if (adapter === undefined) throw new Error(`${client} has no adapter`);
  switch (way) {
    case 'hooks':
      return watched(cutAfterCall(hookMoments(adapter, recordedSameRuns(client).get(run) ?? []), cut), cut);
    case 'stream':
      return watched(cutAfterCall(streamMoments(adapter, recordedStreams(client).get(run) ?? []), cut), cut);
    case 'file':
      return ofFile(adapter, run, cut);
    case 'telemetry':
      return ofTelemetry(exports, cut);
  }
};
