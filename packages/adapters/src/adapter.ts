import type { QuestionAnswer, RequestQuestion } from '@vigil/events';
import { type CallName, nameOf, type SessionEvent } from './session/events.ts';
import type { ToolTraits } from './shared/calls.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A command line, with which a client was started or will be started. */
export type CommandLine = { readonly command: string; readonly args: readonly string[] };

/** A session that a command line starts. */
export type Invocation = {
  /**
   * whether it has one prompt, prints the answer and ends, without reading input (`claude -p`, `codex exec`, `gemini
   * -p`)
   */
  readonly headless: boolean;
  /** whether its standard output is a stream of JSON events that the adapter reads */
  readonly streamsEvents: boolean;
  /**
   * whether it prints lines while it works, so that silence of its terminal is silence of the agent. False: it draws a
   * screen, or prints only notices before its final answer
   */
  readonly printsProgress: boolean;
};

/**
 * One hook event as the client sent it. Its name is in `hook_event_name`, as Claude Code introduced it: the contract
 * suite and the replays of recordings read that. `hooksBy` in shared/hooks.ts reads other fields of Claude Code:
 * `session_id`, `agent_id`, `source`, `reason`, `stop_hook_active`, `SubagentStart` and `SubagentStop`. Codex and
 * Gemini CLI have the same fields. For a client without them, implement `HookAdapter`, and copy the name of the event
 * to that field.
 */
export type HookPayload = Readonly<Record<string, unknown>>;

/** A text for the agent, from an order. */
export type HookText = { readonly orderId: string; readonly text: string };

/**
 * What an event asks a person. `choices`: the names that answer it, and the client's words for each. `questions`: what a question asks; without
 * choices, an answer names each of them.
 */
export type HookRequest = {
  readonly kind: 'permission' | 'question';
  /** the tool that needs the permission, or asks; null: unknown */
  readonly tool: string | null;
  /** without secrets, and short */
  readonly text: string;
  readonly choices: readonly { readonly name: string; readonly label: string }[];
  readonly questions: readonly RequestQuestion[];
};

/**
 * What people have decided. `choice`: the name of one; with `answers`, a summary for people. `answers`: one for each question. `why`: for people
 * and the model
 */
export type Decision = {
  readonly choice: string;
  readonly answers: readonly QuestionAnswer[];
  readonly why: string;
};

/** A request as it is sent: an older gateway or supervisor refuses the field. */
export const sentRequest = <Questions extends readonly unknown[], Rest extends object>({
  questions,
  ...rest
}: Rest & { readonly questions: Questions }): object => (questions.length === 0 ? rest : { ...rest, questions });

const isAnswer = (value: unknown): value is QuestionAnswer => {
  const { question, labels, text } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const areLabels = Array.isArray(labels) && labels.every((label) => typeof label === 'string');
  return typeof question === 'string' && areLabels && (text === null || typeof text === 'string');
};

/** Answers from another process; null: they are not understood. An older one sends none. */
export const answersBy = (value: unknown): readonly QuestionAnswer[] | null => {
  if (value === undefined) return [];
  return Array.isArray(value) && value.every(isAnswer) ? value : null;
};

/** The decision in the gateway's answer to a request; null: there is none. */
export const decisionBy = (answer: unknown): Decision | null => {
  const { kind, option, by, why, outcome, ...rest } = (answer ?? {}) as Readonly<Record<string, unknown>>;
  const answers = answersBy(rest.answers);
  if (kind === 'answered' && typeof option === 'string' && answers !== null)
    return { choice: option, answers, why: `${by}: ${why}` };
  if (kind === 'expired' && outcome === 'allow')
    return { choice: 'allow', answers: [], why: 'no person has answered, and the policy allows it then' };
  return null;
};

/** The effects that the answer of a hook can have on the client, by event. */
export type HookAbilities = {
  /** the answer can carry a text to the model */
  readonly takesText: boolean;
  /** a text continues a turn that would have ended, so that the turn is open again */
  readonly continuesTurn: boolean;
  /** the answer can refuse the event's call */
  readonly canRefuse: boolean;
};

/** A file in which the client keeps a session. `agent`: the client's id of a sub-agent; null: the session's own agent. */
export type Transcript = { readonly path: string; readonly agent: string | null };

export type HookAdapter = {
  /** the events that `vigil hook install` asks for */
  readonly events: readonly string[];
  /** the client's id of the session; null: the payload has none */
  readonly sessionOf: (payload: HookPayload) => string | null;
  /** the files that the event names, for the adapter's `transcript` */
  readonly transcriptsOf: (payload: HookPayload) => readonly Transcript[];
  readonly abilities: (payload: HookPayload) => HookAbilities;
  /** whether its events, or the files that they name, report limits that refuse a request */
  readonly reportsLimits: boolean;
  /** the facts in a payload, without content of prompts, arguments and results; `at`: when the hook started, epoch milliseconds */
  readonly eventsOf: (payload: HookPayload, at: number) => readonly SessionEvent[];
  /**
   * what the event asks a person, while the hook waits; null: nothing. `env`: of the hook's process; null: the client
   * has posted the event
   */
  readonly requestOf: (payload: HookPayload, env: Environment | null) => HookRequest | null;
  /** the output of a hook whose request is decided */
  readonly decision: (payload: HookPayload, decision: Decision) => string;
  /** the output of the hook; null for none. It contains each text and the refusal at most once. */
  readonly answer: (payload: HookPayload, texts: readonly string[], refusal: string | null) => string | null;
};

/** The events that follow from a printed answer with this number of texts. `at`: epoch milliseconds */
export const eventsOfAnswer = (
  { abilities }: HookAdapter,
  payload: HookPayload,
  texts: number,
  at: number,
): readonly SessionEvent[] =>
  texts > 0 && abilities(payload).continuesTurn ? [{ kind: 'turn_started', at, agent: null }] : [];

/** The request in an event; null: it has none. `call` null: the request names none. */
const askedIn = (event: SessionEvent): { readonly call: CallName | null } | null => {
  if (event.kind === 'wait_started') return { call: event.call };
  return event.kind === 'call_started' && event.asks !== null ? { call: nameOf(event.call) } : null;
};

/** The events that follow when the client has the decision on a request of its hook. `at`: epoch milliseconds */
export const eventsOfDecision = (
  { eventsOf }: HookAdapter,
  payload: HookPayload,
  { kind }: HookRequest,
  { choice }: Decision,
  at: number,
): readonly SessionEvent[] => {
  const refused = kind === 'permission' && choice !== 'allow';
  return eventsOf(payload, at).flatMap((event) => {
    const asked = askedIn(event);
    return asked === null ? [] : [{ kind: 'wait_answered', call: asked.call, refused, at, agent: event.agent }];
  });
};

/** The folders of settings. */
export type Place = { readonly cwd: string; readonly home: string; readonly env: Environment };

/** How a hook is written into the settings of a client. */
export type HookInstall = {
  /** the client's name for people */
  readonly title: string;
  /** the program that starts it */
  readonly binary: string;
  /** the files with its hooks: of the project in a folder, and of all sessions of a user */
  readonly files: (place: Place) => { readonly project: string; readonly user: string };
  /** a hook of an event that runs a command, as the file has it */
  readonly command: (command: string, event: string) => Readonly<Record<string, unknown>>;
  /** a hook of an event that posts to an address; null: the client has none */
  readonly http: ((url: string, event: string) => Readonly<Record<string, unknown>>) | null;
  /** the steps that a person must take after the installation, as text; null for none */
  readonly remains: string | null;
};

/** The lines of a terminal as a person sees them, top to bottom, and the cursor (column and row from 0). */
export type ScreenView = {
  readonly lines: readonly string[];
  /** the same lines with spaces in place of faint text: clients draw the hint in an empty input line faint */
  readonly withoutFaint: readonly string[];
  readonly cursor: { readonly column: number; readonly row: number };
  readonly alternate: boolean;
};

/**
 * A limit that refused a request, as a screen shows it. `retryInMs`: the time from its first display to the next try;
 * null if unknown.
 */
export type RetryLimit = { readonly retryInMs: number | null };

/** The meaning of a client's screen. */
export type ScreenMeaning =
  /**
   * it is at its own prompt. `pending`: unsent text in the input line. `turnOver`: whether the screen shows that no
   * turn is open; false if the screen does not show it (Codex draws the same screen when an answer stops in the middle)
   */
  | { readonly kind: 'prompt'; readonly pending: string | null; readonly turnOver: boolean }
  /** a dialog waits for a person */
  | { readonly kind: 'dialog'; readonly wait: 'permission' | 'question' | 'plan' | 'dialog'; readonly text: string }
  | { readonly kind: 'working' }
  /** it retries a request that failed; `limit`: because of a rate limit or an overload */
  | { readonly kind: 'retrying'; readonly text: string; readonly limit: RetryLimit | null }
  | { readonly kind: 'unknown' };

/** How to type a text into the input line of a client. Each part is a separate write. */
export type Typing = {
  /**
   * puts the text into the input line as one bracketed paste, so that a dialog that opens meanwhile gets no key from it
   */
  readonly text: string;
  readonly submit: string;
  /** empties the input line */
  readonly withdraw: string;
  /** whether the input line, as `ScreenMeaning` has it, holds exactly this text */
  readonly isShownBy: (pending: string) => boolean;
};

/** How a hung session is interrupted: a key is typed, a signal is sent to its process group, or it cannot be. */
export type Interrupt =
  | { readonly kind: 'key'; readonly data: string }
  | { readonly kind: 'signal'; readonly signal: 'SIGINT' }
  | { readonly kind: 'none'; readonly why: string };

/** The reports of a line of a stream or a file. The state between lines is plain JSON. */
export type LineRead<State> = { readonly state: State; readonly events: readonly SessionEvent[] };

/** `sessionId` null: the line does not name the session. */
type NamedLineRead<State> = LineRead<State> & { readonly sessionId: string | null };

/** Reads the output stream of a headless client, line by line. */
export type StreamReader<State> = {
  /** whether an entry shows that the stream is one of this client's: its first line does, others may */
  readonly isOf: (entry: HookPayload) => boolean;
  readonly initial: State;
  /** `at`: when the line was read, epoch milliseconds */
  read(state: State, line: string, at: number): NamedLineRead<State>;
};

/**
 * Reads the data of a session file that no hook reports: tokens, context and cost, interrupts, errors, exit codes of
 * commands. It also reads calls and the last answer of a turn, because a hook may be lost. Lines written before a hook
 * started are folded before its events, and the first report of a call's end counts.
 */
export type TranscriptReader<State> = {
  readonly initial: State;
  /** the state for a resumed session, after the lines of its earlier instance, whose counts do not count again */
  resumed(state: State): State;
  read(state: State, line: string): LineRead<State>;
};

/**
 * Reads a whole session file without hooks: the data of the transcript reader, and turns, calls, their ends and
 * sub-agents. Events come in the order of the file, not of their times.
 */
export type SessionFileReader<State> = {
  /** where the client keeps its sessions, for people */
  readonly place: string;
  /**
   * the folder with the files of a session's sub-agents; null if they are in the session's own file, or are separate
   * sessions
   */
  readonly subagentsOf: (path: string) => string | null;
  /** whether an entry shows that its file is one of this client's */
  readonly isOf: (entry: HookPayload) => boolean;
  readonly initial: State;
  read(state: State, line: string): NamedLineRead<State>;
};

/** The whole of Vigil's support for one coding agent's client. Nothing about a client is anywhere else. */
export type Adapter = {
  readonly name: string;
  /** null: the command line starts another program */
  readonly invocation: (line: CommandLine) => Invocation | null;
  readonly hooks: HookAdapter;
  /** the traits of a call of one of its tools, by its arguments */
  readonly traitsOf: (tool: string, args: unknown) => ToolTraits;
  readonly install: HookInstall;
  readonly screen: (view: ScreenView) => ScreenMeaning;
  readonly typed: (text: string) => Typing;
  readonly interrupt: (invocation: Invocation) => Interrupt;
  /** the command line that continues a session with a text; null: this invocation cannot be resumed */
  readonly resume: (line: CommandLine, sessionId: string, text: string) => CommandLine | null;
  readonly stream: StreamReader<unknown>;
  /** the options with which a headless client prints that stream, for people */
  readonly streamOptions: string;
  readonly transcript: TranscriptReader<unknown>;
  readonly sessionFile: SessionFileReader<unknown>;
};
