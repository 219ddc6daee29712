import { connect, type Socket } from 'node:net';
import type { Denial, Text } from './answer.ts';
import { type Answer, nothing } from './door.ts';
import type { Report } from './report.ts';

/** The supervisor is on the same machine: one that does not take a connection at once is not there. Milliseconds. */
const CONNECT_MS = 25;
/** From the beginning, connecting included. */
const ANSWER_MS = 40;
/** One that has offered texts is there, and writes down what it does before it does it. */
const TEXTS_MS = 1000;

type Line = {
  readonly hook?: { readonly texts: number; readonly denied: Denial | null };
  readonly text?: string;
  readonly order_id?: string;
};

/** The line by which a hook says who it is; the rest are fields of a heartbeat. */
const lineOf = (report: Report): string => {
  const { exit: _, ...said } = report.said;
  const hook = { takes_text: report.takesText, asks: report.asks, turn_over: report.turnOver };
  return `${JSON.stringify({ hook, ...said })}\n`;
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

const ending = (socket: Socket, line: string): Promise<void> =>
  new Promise((resolve) => {
    const giveUp = setTimeout(resolve, TEXTS_MS);
    socket.once('close', () => {
      clearTimeout(giveUp);
      resolve();
    });
    socket.end(line);
  });

/** One question and its answer. Where texts are offered, they are taken; who has given up before takes none, so none is lost. */
class Asking {
  readonly #socket: Socket;
  readonly #report: Report;
  readonly #texts: Text[] = [];
  readonly #resolve: (answer: Answer) => void;
  readonly #since = performance.now();
  #taken = false;
  #coming: number | null = null;
  #denial: Denial | null = null;
  #patience: ReturnType<typeof setTimeout> | undefined;

  constructor(path: string, report: Report, resolve: (answer: Answer) => void) {
    this.#report = report;
    this.#resolve = resolve;
    this.#socket = connect(path);
    this.#waitUpTo(CONNECT_MS);
    this.#socket.on('error', () => this.#giveUp()).on('close', () => this.#giveUp());
    this.#socket.on('connect', () => {
      this.#waitUpTo(ANSWER_MS - (performance.now() - this.#since));
      this.#socket.write(lineOf(report));
    });
    eachLine(
      this.#socket,
      (line) => this.#hear(line),
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
    this.#resolve({ ...nothing, denial: this.#denial });
  }

  #hear({ hook, text, order_id }: Line): void {
    if (hook) this.#offered(hook.texts, hook.denied);
    if (text !== undefined && order_id !== undefined) this.#texts.push({ text, orderId: order_id });
    if (this.#texts.length === this.#coming) this.#done();
  }

  #offered(texts: number, denial: Denial | null): void {
    this.#denial ??= denial;
    if (texts === 0 || this.#taken) this.#coming = texts;
    else this.#take();
  }

  #take(): void {
    this.#taken = true;
    this.#waitUpTo(TEXTS_MS);
    this.#socket.write(`${JSON.stringify({ hook: { takes: true } })}\n`);
  }

  #done(): void {
    clearTimeout(this.#patience);
    this.#resolve({ texts: this.#texts, denial: this.#denial, told: () => this.#tell() });
  }

  /** What is told at the end of a turn makes it go on. */
  #tell(): Promise<void> {
    if (this.#texts.length === 0) {
      this.#socket.destroy();
      return Promise.resolve();
    }
    const { activity } = this.#report.said;
    const word = { hook: { told: this.#texts.map(({ orderId }) => orderId) } };
    const goesOn = activity === 'awaiting_input' || activity === 'idle' ? { activity: 'working' } : {};
    return ending(this.#socket, `${JSON.stringify({ ...word, ...goesOn })}\n`);
  }
}

/** Tells the supervisor at the other end of VIGIL_SOCKET; whatever is wrong with it, the answer is nothing. */
export const askSupervisor = (path: string, report: Report): Promise<Answer> =>
  new Promise((resolve) => void new Asking(path, report, resolve));
