import { appendFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Decision,
  eventsOfAnswer,
  eventsOfDecision,
  type HookAdapter,
  type HookPayload,
  type HookRequest,
} from '@vigil/adapters/adapter';
import { parseLine } from '@vigil/adapters/payload';
import { loadHooks, loadTranscript } from './clients.ts';
import type { Desk } from './requests/ask.ts';
import type { Environment } from './session/agents.ts';
import { append, type SpoolRecord, spoolFile } from './spool/spool.ts';
import { type Answer, querySupervisor } from './supervisor.ts';

/** A client writes at once and closes; one that does not is not waited for. Milliseconds. */
const INPUT_MS = 2000;
const LARGEST_INPUT = 64 << 20;

const readStdin = (): Promise<string> =>
  new Promise((resolve) => {
    const { stdin } = process;
    if (stdin.isTTY) return resolve('');
    const giveUp = setTimeout(() => resolve(''), INPUT_MS);
    const chunks: string[] = [];
    let length = 0;
    const done = (text: string): void => {
      clearTimeout(giveUp);
      resolve(text);
    };
    stdin.setEncoding('utf8');
    stdin.on('data', (chunk: string) => {
      length += chunk.length;
      if (length <= LARGEST_INPUT) chunks.push(chunk);
    });
    stdin.on('end', () => done(chunks.join(''))).on('error', () => done(''));
  });

/** Where the hook reports, and how the record is kept there before anything else. */
type Way = { readonly exchange: () => Promise<Answer>; readonly keep: (record: SpoolRecord) => void };

const toSupervisor = (socket: string, dir: string, record: SpoolRecord): Way => {
  const file = join(dir, spoolFile(record.client, record.session));
  append(file, record);
  return { exchange: () => querySupervisor(socket, record), keep: (more) => append(file, more) };
};

const toGateway = async (url: string, record: SpoolRecord, env: Environment): Promise<Way | null> => {
  const { session } = record;
  if (session === null) return null;
  const { sessionAtGateway } = await import('./gateway/gateway.ts');
  return sessionAtGateway(url, { ...record, session }, () => loadTranscript(record.client), env, Date.now);
};

const wayOf = (record: SpoolRecord, env: Environment): Promise<Way | null> | Way | null => {
  if (env.VIGIL_SOCKET && env.VIGIL_SPOOL) return toSupervisor(env.VIGIL_SOCKET, env.VIGIL_SPOOL, record);
  return env.VIGIL_GATEWAY_URL ? toGateway(env.VIGIL_GATEWAY_URL, record, env) : null;
};

const recordOf = (name: string, hooks: HookAdapter, payload: HookPayload, at: number): SpoolRecord => {
  const { takesText, canRefuse, continuesTurn } = hooks.abilities(payload);
  return {
    id: `${process.pid}-${process.hrtime.bigint()}`,
    client: name,
    session: hooks.sessionOf(payload),
    transcripts: hooks.transcriptsOf(payload),
    takesText,
    canRefuse,
    continuesTurn,
    events: hooks.eventsOf(payload, at),
  };
};

/** A record that reports nothing and whose hook can answer nothing. */
const isEmpty = ({ events, takesText, canRefuse }: SpoolRecord): boolean =>
  events.length === 0 && !takesText && !canRefuse;

const answersNothing = { takesText: false, canRefuse: false, continuesTurn: false };

/** Where the request of an event is decided; null: nowhere. */
const deskOf = async (record: SpoolRecord, request: HookRequest, env: Environment): Promise<Desk | null> => {
  const { id, client, session } = record;
  if (session === null) return null;
  const { atGateway, atSupervisor } = await import('./requests/ask.ts');
  const asking = { id, client, session, request };
  if (env.VIGIL_SOCKET && env.VIGIL_SPOOL) return atSupervisor(env.VIGIL_SOCKET, asking, Date.now);
  return env.VIGIL_GATEWAY_URL ? atGateway(env.VIGIL_GATEWAY_URL, asking, env, Date.now) : null;
};

/** Signals by which a client ends a hook whose answer it does not need any more. */
const ENDS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
/** How often the hook looks whether the program that started it is gone, milliseconds. */
const PARENT_LOOK_MS = 2000;

/** Waits for people, and withdraws the request if the client does not wait any more; null: no decision. */
const decided = async (desk: Desk): Promise<Decision | null> => {
  const stop = new AbortController();
  const parent = process.ppid;
  let withdrawn: Promise<void> = Promise.resolve();
  const end = (): void => {
    if (stop.signal.aborted) return;
    stop.abort();
    withdrawn = desk.withdraw().finally(() => process.exit(0));
  };
  for (const signal of ENDS) process.on(signal, end);
  const look = setInterval(() => {
    if (process.ppid !== parent) end();
  }, PARENT_LOOK_MS);
  try {
    const decision = await desk.decision(stop.signal);
    await withdrawn;
    return decision;
  } finally {
    clearInterval(look);
  }
};

const run = async (name: string, at: number, env: Environment): Promise<string> => {
  const [hooks, input] = await Promise.all([loadHooks(name), readStdin()]);
  if (hooks === undefined) return `there is no adapter ${name}`;
  const payload = parseLine(input.trim());
  if (payload === null) return 'no hook event';
  const record = recordOf(name, hooks, payload, at);
  if (isEmpty(record)) return 'an event without facts';
  const way = await wayOf(record, env);
  if (way === null) return 'not watched';
  const answer = await way.exchange();
  const texts = [...answer.texts.map(({ text }) => text), ...(answer.question === null ? [] : [answer.question])];
  const request = answer.refusal === null ? hooks.requestOf(payload, env) : null;
  const desk = request === null ? null : await deskOf(record, request, env);
  const decision = desk === null ? null : await decided(desk);
  const output = decision === null ? hooks.answer(payload, texts, answer.refusal) : hooks.decision(payload, decision);
  if (output !== null) writeSync(1, `${output}\n`);
  const following = { ...record, id: `${record.id}-on`, ...answersNothing };
  const events = eventsOfAnswer(hooks, payload, texts.length, Date.now());
  if (events.length > 0) way.keep({ ...following, events });
  if (request !== null && decision !== null) {
    const answered = eventsOfDecision(hooks, payload, request, decision, Date.now());
    await (await wayOf({ ...following, events: answered }, env))?.exchange();
  }
  await answer.printed();
  return record.events.map(({ kind }) => kind).join(' ');
};

/** VIGIL_HOOK_DEBUG names a file that records what each hook did, and for how long. */
const note = (file: string | undefined, what: string, since: bigint): void => {
  if (!file) return;
  const ms = Number(process.hrtime.bigint() - since) / 1e6;
  appendFileSync(file, `${JSON.stringify({ at: new Date().toISOString(), what, ms })}\n`);
};

/**
 * Handles one hook event of a client: reads it from stdin, appends it to the spool, reports it, answers on stdout. An
 * error never disturbs the session: nothing is printed, and the exit code is 0.
 * `since`: when this process began to be a hook.
 */
export const main = async (client: string, since: bigint): Promise<never> => {
  const { env } = process;
  process.on('uncaughtException', () => process.exit(0));
  const what = await run(client, Date.now(), env).catch((error: unknown) =>
    String(error instanceof Error ? error.stack : error),
  );
  note(env.VIGIL_HOOK_DEBUG, what, since);
  process.exit(0);
};
