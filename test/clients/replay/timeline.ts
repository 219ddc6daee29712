import type { HookPayload, ScreenMeaning } from '@vigil/adapters/adapter';
import { at, textAt } from './fields.ts';
import type { Situation } from './situations.ts';

/** The actions of a client with their times, reported by a hook or not. */
export type TrueEvent = { readonly ms: number; readonly name: string; readonly payload: HookPayload };
export type Drawn = { readonly ms: number; readonly meaning: ScreenMeaning };

export type Timeline = {
  readonly events: readonly TrueEvent[];
  readonly screens: readonly Drawn[];
  readonly endMs: number;
};

/** The speed of a working client, milliseconds. */
export type Pace = {
  /** the longest time in which a model answers */
  readonly answerMs: number;
  /** the longest call that declares no deadline */
  readonly callMs: number;
  /** the longest time in which a person answers */
  readonly personMs: number;
};

export type Random = () => number;

const SECOND = 1000;

/** A random duration between the two, with each order of magnitude equally likely. */
const duration = (random: Random, shortest: number, longest: number): number =>
  Math.round(shortest * (longest / shortest) ** random());

const isShell = (tool: string | null): boolean => tool === 'Bash';
const callStarts: ReadonlySet<string> = new Set(['PreToolUse', 'BeforeTool']);
const callEnds: ReadonlySet<string> = new Set(['PostToolUse', 'PostToolUseFailure', 'AfterTool']);
const turnEnds: ReadonlySet<string> = new Set(['Stop', 'AfterAgent']);
const turnStarts: ReadonlySet<string> = new Set(['UserPromptSubmit', 'BeforeAgent']);
/** Dialogs that a notification reports late, and nothing else. */
const lateDialogs: ReadonlySet<string | null> = new Set(['agent_needs_input', 'ToolPermission']);

const dialog: ScreenMeaning = { kind: 'dialog', wait: 'permission', text: 'Do you want to proceed?' };
const working: ScreenMeaning = { kind: 'working' };

/** Codex draws the same screen when an answer stops in the middle as at its prompt. */
const promptOf = (client: string, isInterrupted: boolean): ScreenMeaning => ({
  kind: 'prompt',
  pending: null,
  turnOver: client !== 'codex' || isInterrupted,
});

/** Gives each shell command a deadline, the same in all payloads that name it. */
class Deadlines {
  readonly #client: string;
  readonly #random: Random;
  readonly #known = new Map<string, number | null>();

  constructor(client: string, random: Random) {
    this.#client = client;
    this.#random = random;
  }

  /** The declared deadline of a call, milliseconds; null without one. */
  of(payload: HookPayload): number | null {
    if (!isShell(textAt(payload, 'tool_name'))) return null;
    const { description: _, timeout: __, timeout_ms: ___, ...args } = (at(payload, 'tool_input') ?? {}) as HookPayload;
    const key = JSON.stringify(args);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const declared = this.#random() < 0.5 ? duration(this.#random, 10 * SECOND, 600 * SECOND) : null;
    this.#known.set(key, declared);
    return declared;
  }

  declared(payload: HookPayload): HookPayload {
    const limit = this.of(payload);
    if (limit === null) return payload;
    const field = this.#client === 'codex' ? 'timeout_ms' : 'timeout';
    return { ...payload, tool_input: { ...(at(payload, 'tool_input') as HookPayload), [field]: limit } };
  }
}

type OpenCall = { readonly tool: string | null; readonly agent: string | null; readonly untilMs: number };

/** Sets the times of a recording as a working client could have had them. */
class Layout {
  readonly #situation: Situation;
  readonly #pace: Pace;
  readonly #random: Random;
  readonly #deadlines: Deadlines;
  readonly #events: TrueEvent[] = [];
  readonly #screens: Drawn[] = [];
  readonly #open = new Map<string, OpenCall>();
  readonly #starts = new Map<string, number>();
  #isPrompted = false;
  #ms = 0;

  constructor(situation: Situation, pace: Pace, random: Random) {
    this.#situation = situation;
    this.#pace = pace;
    this.#random = random;
    this.#deadlines = new Deadlines(situation.client, random);
  }

  timeline(): Timeline {
    const { headless, ending, client } = this.#situation;
    const recorded = this.#situation.events.map(({ payload }) => payload);
    const first = recorded.findIndex((one) => one.hook_event_name === 'SessionStart');
    const isKept = ({ hook_event_name: name }: HookPayload) => name !== 'SessionEnd' || ending === 'exits';
    for (const payload of recorded.slice(first).filter(isKept)) this.#add(this.#withOwnIds(payload));
    if (ending === 'escape') {
      this.#ms += this.#callTime();
      this.#event('Escape', {});
      this.#draw(promptOf(client, true));
    }
    if (ending === 'works') this.#ms += this.#open.size === 0 ? this.#answerTime() : this.#callTime();
    else this.#ms += headless ? SECOND : this.#personTime();
    return { events: this.#events, screens: this.#screens, endMs: this.#ms };
  }

  /** The scripted model of one recording was restarted, and numbered its calls from the beginning. */
  #withOwnIds(payload: HookPayload): HookPayload {
    const id = textAt(payload, 'tool_use_id');
    if (id !== null && payload.hook_event_name === 'PreToolUse') this.#starts.set(id, (this.#starts.get(id) ?? 0) + 1);
    const again = [...this.#starts].filter(([, times]) => times > 1);
    const text = again.reduce(
      (so, [one, times]) => so.replaceAll(`"${one}"`, `"${one}-${times}"`),
      JSON.stringify(payload),
    );
    return JSON.parse(text);
  }

  #personTime(): number {
    return duration(this.#random, 2 * SECOND, this.#pace.personMs);
  }

  /** Calls of another agent of the session end in time, too. */
  #answerTime(): number {
    const longest = Math.max(51, Math.min(this.#pace.answerMs, this.#leftMs()));
    return this.#random() < 0.2 ? longest : duration(this.#random, 50, longest);
  }

  /** The time to the first deadline of an open call. */
  #leftMs(): number {
    return Math.min(...[...this.#open.values()].map(({ untilMs }) => untilMs - this.#ms));
  }

  #soon(): number {
    return Math.round(20 + this.#random() * 200);
  }

  /** A random time until a call ends, before the first deadline. */
  #callTime(): number {
    return this.#open.size === 0 ? 50 : duration(this.#random, 50, Math.max(51, this.#leftMs()));
  }

  #draw(meaning: ScreenMeaning): void {
    if (!this.#situation.headless || meaning.kind === 'retrying') this.#screens.push({ ms: this.#ms, meaning });
  }

  #event(name: string, payload: HookPayload): void {
    this.#events.push({ ms: this.#ms, name, payload });
  }

  /** A person answers the dialog that is open; the calls that waited for it run from then on. */
  #answered(): void {
    this.#ms += this.#personTime();
    this.#isPrompted = false;
    this.#draw(working);
    for (const [id, call] of this.#open) this.#open.set(id, { ...call, untilMs: this.#ms + this.#limit(call.tool) });
  }

  #limit(tool: string | null): number {
    // A deadline that is declared is at least ten seconds away.
    return isShell(tool) ? Math.min(this.#pace.callMs, 10 * SECOND) : this.#pace.callMs;
  }

  #prompt(): void {
    if (this.#situation.headless || this.#isPrompted) return;
    this.#isPrompted = true;
    this.#draw(dialog);
  }

  #add(recorded: HookPayload): void {
    const name = String(recorded.hook_event_name);
    const payload = this.#deadlines.declared(recorded);
    const before = this.#events.at(-1)?.name ?? null;
    this.#pass(name, payload, before);
    this.#event(name, payload);
    this.#after(name, payload);
  }

  /** The time before an event. */
  #pass(name: string, payload: HookPayload, before: string | null): void {
    const { headless, client, retries } = this.#situation;
    if (before === null) return;
    if (this.#isPrompted && (callEnds.has(name) || name === 'PostToolBatch')) this.#answered();
    if (callEnds.has(name)) this.#ms += this.#callTime();
    else if (callStarts.has(name)) this.#ms += callStarts.has(before) ? this.#soon() : this.#answerTime();
    else if (turnStarts.has(name)) {
      const isOwn = textAt(payload, 'prompt')?.startsWith('<task-notification>') ?? false;
      const isFirst = before === 'SessionStart' && (headless || client === 'codex');
      if (isOwn && before !== 'SubagentStop') this.#ms += duration(this.#random, SECOND, this.#pace.callMs);
      else this.#ms += isOwn || isFirst ? this.#soon() : this.#personTime();
    } else if (turnEnds.has(name) || name === 'SubagentStop' || name === 'PostCompact') {
      if (retries) this.#retry();
      this.#ms += this.#answerTime();
    } else if (name === 'PreCompact') this.#ms += this.#personTime();
    else if (name === 'Interrupt') this.#ms += this.#open.size > 0 ? this.#callTime() : this.#answerTime();
    else if (name === 'Notification') this.#notified(textAt(payload, 'notification_type'));
    else this.#ms += this.#soon();
  }

  #notified(type: string | null): void {
    if (type === 'idle_prompt') this.#ms += 60 * SECOND;
    else if (lateDialogs.has(type)) {
      this.#ms += this.#soon();
      this.#prompt();
      this.#ms += duration(this.#random, SECOND, 12 * SECOND);
    } else this.#ms += 6 * SECOND;
  }

  /** Requests that a limit refuses. The client waits longer each time, and shows the reason from the third time on. */
  #retry(): void {
    const times = 3 + Math.floor(this.#random() * 8);
    for (let attempt = 1; attempt <= times; attempt += 1) {
      const waits = Math.min(32, 2 ** (attempt - 1)) * (attempt < 3 ? 500 : SECOND);
      const seconds = Math.ceil(waits / SECOND);
      const limit = attempt < 3 ? null : { retryInMs: seconds * SECOND };
      const text = `${limit === null ? 'API error' : '529 Overloaded'} · retrying in ${seconds}s · attempt ${attempt}/10`;
      this.#draw({ kind: 'retrying', text, limit });
      this.#ms += waits;
    }
    this.#draw(working);
  }

  #after(name: string, payload: HookPayload): void {
    const { client } = this.#situation;
    const tool = textAt(payload, 'tool_name');
    const agent = textAt(payload, 'agent_id');
    const id = textAt(payload, 'tool_use_id') ?? JSON.stringify(at(payload, 'tool_input'));
    if (callStarts.has(name)) {
      const limit = this.#deadlines.of(payload) ?? this.#pace.callMs;
      this.#open.set(id, { tool, agent, untilMs: this.#ms + limit });
    }
    if (callEnds.has(name)) this.#open.delete(id);
    if (name === 'PostToolBatch')
      for (const [open, call] of this.#open) if (call.agent === agent) this.#open.delete(open);
    if (name === 'PermissionRequest' || (callStarts.has(name) && tool === 'AskUserQuestion')) this.#prompt();
    if (name === 'SessionStart' || name === 'PostCompact') this.#draw(promptOf(client, true));
    if (turnStarts.has(name) || name === 'PreCompact') this.#draw(working);
    if (turnEnds.has(name) || name === 'Interrupt') {
      for (const [open, call] of this.#open) if (call.agent === null) this.#open.delete(open);
      this.#draw(promptOf(client, name === 'Interrupt'));
    }
  }
}

export const timelineOf = (situation: Situation, pace: Pace, random: Random): Timeline =>
  new Layout(situation, pace, random).timeline();
