import { userInfo } from 'node:os';
import type { Knowledge } from '@vigil/read-model';
import picocolors from 'picocolors';
import {
  ANSWER_LIMIT_MS,
  type Client,
  openClient,
  openReportClient,
  REPORT_LIMIT_MS,
  VIEW_LIMIT_MS,
} from './client.ts';
import { dashboardSettings, gatewaySettings } from './config.ts';
import { CannotProceed, Refusal } from './errors.ts';
import { isCurrent, knowledgeLines } from './render/knowledge.ts';
import { jsonText, plain, plainAll } from './render/plain.ts';
import type { View } from './render/view.ts';

const PIPE_WIDTH = 200;

/** The command line's output settings and the current time. */
export const view = (): View => {
  const { isTTY, columns } = process.stdout;
  const colors = isTTY === true && !process.env.NO_COLOR;
  const now = Date.now();
  return {
    now,
    paint: picocolors.createColors(colors),
    width: isTTY ? columns : PIPE_WIDTH,
    offsetMinutes: -new Date(now).getTimezoneOffset(),
  };
};

export const print = (lines: readonly string[]): void => {
  process.stdout.write(lines.map((line) => `${line}\n`).join(''));
};

/** The option of commands whose answer programs can read. */
export type Json = { readonly json?: boolean };

/** An answer for programs as JSON, for people as lines; no text of it reaches the terminal raw. */
export const show = <T>(
  json: boolean | undefined,
  answer: T,
  lines: (answer: T, view: View) => readonly string[],
): void => {
  if (json === true) print([jsonText(answer)]);
  else print(lines(plainAll(answer), view()));
};

/** What an answer about states has; an older dashboard sends less of it. */
export type Aged = { readonly knowledge?: Knowledge };

/** On stderr: how old an answer for programs is, where it is not current or not complete. */
export const reportAge = (knowledge: Knowledge): void => {
  const lines = knowledgeLines(view(), plainAll(knowledge));
  process.stderr.write(lines.map((line) => `vigil: ${line}\n`).join(''));
};

/** `isNow`: the states are the present ones, not those of an earlier time. */
type AgedLines<T> = (answer: T, view: View, isNow: boolean) => readonly string[];

/**
 * Shows an answer about states, and how old it is: the parts that do not answer and since when, before it or, for programs, on
 * stderr. Ends with 2 while Vigil is blind. `knowledge` undefined: an older dashboard does not report it.
 */
export const showAged = <T>(
  json: boolean | undefined,
  answer: T,
  knowledge: Knowledge | undefined,
  lines: AgedLines<T>,
): void => {
  const isNow = knowledge === undefined || isCurrent(knowledge);
  const age = knowledge === undefined ? [] : knowledgeLines(view(), plainAll(knowledge));
  if (json === true && knowledge !== undefined) reportAge(knowledge);
  show(json, answer, (shown, screen) => [...age, ...lines(shown, screen, isNow)]);
  if (!isNow) endBlind();
};

/** Shows what `read` gives, and how old it is. */
export const showList = async <Row>(
  json: boolean | undefined,
  lines: (view: View, rows: readonly Row[], isNow: boolean) => readonly string[],
  read: (client: Client) => Promise<readonly Row[]>,
): Promise<void> => {
  const client = dashboardView();
  const [rows, { knowledge }] = await Promise.all([
    read(client),
    client.get<{ readonly knowledge: Knowledge }>('/v1/fleet'),
  ]);
  showAged(json, rows, knowledge, (shown, screen, isNow) => lines(screen, shown, isNow));
};

export const dashboard = (): Client => openClient(dashboardSettings(process.env), ANSWER_LIMIT_MS);

/** For answers that need other parts than the dashboard. */
export const dashboardReport = (): Client =>
  openReportClient(dashboardSettings(process.env), { viewMs: VIEW_LIMIT_MS, reportMs: REPORT_LIMIT_MS });

/** For what people watch. */
export const dashboardView = (): Client => openClient(dashboardSettings(process.env), VIEW_LIMIT_MS);

export const gateway = (): Client => openClient(gatewaySettings(process.env), ANSWER_LIMIT_MS);

/** The author of a command when no name is given. */
export const whoAmI = (): string => process.env.USER || userInfo().username;

/** A reader that has gone, as in `vigil … | head`, is not an error: the command ends as it would have. */
export const outliveReaders = (): void => {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A command that supervises an agent has a listener of its own.
    if (error.code !== 'EPIPE' && process.stdout.listenerCount('error') === 1) throw error;
  });
  process.stderr.on('error', () => {});
};

/** Aborted by Ctrl-C, and when the reader of the output has gone. */
export const untilStopped = (): AbortSignal => {
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  process.once('SIGTERM', () => stop.abort());
  process.stdout.once('error', () => stop.abort());
  return stop.signal;
};

/** Ends with code 1 once all is printed: something is unhealthy, or refused. */
export const endUnwell = (): void => {
  process.exitCode = 1;
};

/** Ends with code 2 once all is printed: what is printed may be old. */
export const endBlind = (): void => {
  process.exitCode = 2;
};

/**
 * Prints the error and sets the exit code. 1: refused; 2: cannot proceed. Any other error is a bug in Vigil, shown
 * with its stack.
 */
export const printError = (error: unknown): void => {
  if (!(error instanceof CannotProceed || error instanceof Refusal)) throw error;
  process.stderr.write(`vigil: ${error.message.split('\n').map(plain).join('\n')}\n`);
  process.exitCode = error instanceof Refusal ? 1 : 2;
};
