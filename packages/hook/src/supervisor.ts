import { connect, type Socket } from 'node:net';
import type { HookText } from '@vigil/adapters/adapter';
import type { SpoolRecord } from './spool/spool.ts';

/** What Vigil answers to a hook event. */
export type Answer = {
  readonly texts: readonly HookText[];
  /** why the call that begins is not to be made; null: it may be made */
  readonly refusal: string | null;
  /** what the agent is asked before its turn ends; null: nothing */
  readonly question: string | null;
  /** reports that the texts have been printed: without it they count as uncertain, and are never repeated */
  readonly printed: () => Promise<void>;
};

export const nothing: Answer = { texts: [], refusal: null, question: null, printed: async () => {} };

/** How long the supervisor on the same machine is waited for, connecting included. Milliseconds. */
const ANSWER_MS = 100;
/** The same before a call that it may refuse. */
const REFUSAL_MS = 500;
/** A supervisor that has offered texts is running, and records each action before it takes it. */
const TEXTS_MS = 1000;

type Line = {
  readonly hook?: { readonly texts: number; readonly refusal: string | null; readonly question?: string | null };
  readonly text?: string;
  readonly order_id?: string;
};

const eachLine = (socket: Socket, onLine: (line: Line) => void, onNonsense: () => void): void => {
  let rest = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    try {
      for (const line of lines) if (line !== '') onLine(JSON.parse(line) as Line);
    } catch {
      onNonsense();
    }
  });
};

const sendLast = (socket: Socket, line: string): Promise<void> =>
  new Promise((resolve) => {
    const giveUp = setTimeout(resolve, TEXTS_MS);
    socket.once('close', () => {
      clearTimeout(giveUp);
      resolve();
    });
    socket.end(line);
  });

/** One question and its answer. Texts that are offered are taken; a hook that has given up before takes none, so none is lost. */
class Question {
  readonly #socket: Socket;
  readonly #texts: HookText[] = [];
  readonly #resolve: (answer: Answer) => void;
  #isTaken = false;
  #expected: number | null = null;
  #refusal: string | null = null;
  #question: string | null = null;
  #patience: ReturnType<typeof setTimeout> | undefined;

  constructor(path: string, { id, canRefuse }: SpoolRecord, resolve: (answer: Answer) => void) {
    this.#resolve = resolve;
    this.#socket = connect(path);
    this.#waitUpTo(canRefuse ? REFUSAL_MS : ANSWER_MS);
    this.#socket.on('error', () => this.#giveUp()).on('close', () => this.#giveUp());
    this.#socket.on('connect', () => this.#socket.write(`${JSON.stringify({ hook: { spooled: id } })}\n`));
    eachLine(
      this.#socket,
      (line) => this.#receive(line),
      () => this.#giveUp(),
    );
  }

  #waitUpTo(ms: number): void {
    clearTimeout(this.#patience);
    this.#patience = setTimeout(() => this.#giveUp(), ms);
  }

  #giveUp(): void {
    clearTimeout(this.#patience);
    this.#socket.destroy();
    this.#resolve({ ...nothing, refusal: this.#refusal, question: this.#question });
  }

  #receive({ hook, text, order_id }: Line): void {
    if (hook) this.#offered(hook.texts, hook.refusal, hook.question ?? null);
    if (text !== undefined && order_id !== undefined) this.#texts.push({ text, orderId: order_id });
    if (this.#texts.length === this.#expected) this.#finish();
  }

  #offered(texts: number, refusal: string | null, question: string | null): void {
    this.#refusal ??= refusal;
    this.#question ??= question;
    if (texts === 0 || this.#isTaken) this.#expected = texts;
    else this.#take();
  }

  #take(): void {
    this.#isTaken = true;
    this.#waitUpTo(TEXTS_MS);
    this.#socket.write(`${JSON.stringify({ hook: { takes: true } })}\n`);
  }

  #finish(): void {
    clearTimeout(this.#patience);
    const [texts, refusal, question] = [this.#texts, this.#refusal, this.#question];
    this.#resolve({ texts, refusal, question, printed: () => this.#printed() });
  }

  #printed(): Promise<void> {
    if (this.#texts.length === 0) {
      this.#socket.destroy();
      return Promise.resolve();
    }
    const printed = this.#texts.map(({ orderId }) => orderId);
    return sendLast(this.#socket, `${JSON.stringify({ hook: { printed: printed } })}\n`);
  }
}

/** Queries the supervisor at the other end of VIGIL_SOCKET. Any failure gives an empty answer. */
export const querySupervisor = (path: string, record: SpoolRecord): Promise<Answer> =>
  new Promise((resolve) => void new Question(path, record, resolve));
