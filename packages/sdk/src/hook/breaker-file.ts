import { appendFileSync, readFileSync, rmSync } from 'node:fs';
import type { BreakerReport, ToolCall } from '@vigil/events';
import type { Denial } from './answer.ts';
import { asked, breakerReports, closedByOrder, ended, type HookBreakers, noBreakers, turnOver } from './breakers.ts';
import { replace } from './replace.ts';
import type { Report } from './report.ts';

/** The breakers of a session that no supervisor watches. Whatever is wrong with the disk: nothing is judged, and nothing denied. */
export type BreakerFile = {
  /** null: its call may be made, or it is none */
  readonly judge: (report: Report, now: number) => Denial | null;
  /** Closed by order; false: there is no such breaker here. */
  readonly reset: (name: string) => boolean;
  /** As they are now; none where no call has been judged. */
  readonly reports: () => readonly BreakerReport[];
};

type Call = Pick<ToolCall, 'call_id' | 'kind' | 'outcome' | 'error_class'>;
/** One line of the file. */
type Entry =
  | { readonly id: string; readonly at: number; readonly turnOver: boolean; readonly calls: readonly Call[] }
  | { readonly id: string; readonly reset: string }
  | { readonly id: string; readonly state: HookBreakers };
type After = { readonly state: HookBreakers; readonly denied: Denial | null; readonly found: boolean };

/** Longer than this it is written anew as what it comes to: a turn of some 200 calls. Bytes. */
const LARGEST = 32 << 10;

const called = (before: After, call: Call, at: number): After => {
  if (call.outcome !== 'running') return { ...before, state: ended(before.state, call, at) };
  const { state, denied } = asked(before.state, call, at);
  return { ...before, state, denied: before.denied ?? denied };
};

const after = (state: HookBreakers, entry: Entry): After => {
  if ('state' in entry) return { state: entry.state, denied: null, found: true };
  if ('reset' in entry) {
    const closed = closedByOrder(state, entry.reset);
    return { state: closed ?? state, denied: null, found: closed !== undefined };
  }
  const begun: After = { state: entry.turnOver ? turnOver(state) : state, denied: null, found: true };
  return entry.calls.reduce((so, call) => called(so, call, entry.at), begun);
};

/** The last line may be torn. */
const entriesIn = (text: string): readonly Entry[] =>
  text.split('\n').flatMap((line) => {
    try {
      return line === '' ? [] : [JSON.parse(line) as Entry];
    } catch {
      return [];
    }
  });

const written = (entry: Entry): string => `${JSON.stringify(entry)}\n`;

/**
 * Each hook adds its line and reads what all lines come to, its own among them: the order of the lines is one order for all hooks that run
 * beside each other, without a lock. What is added while the file is written anew is lost: a failure that does not count.
 */
const told = (path: string, entry: Entry): After | null => {
  try {
    appendFileSync(path, written(entry), { mode: 0o600 });
    const text = readFileSync(path, 'utf8');
    let state = noBreakers;
    let own: After | null = null;
    for (const one of entriesIn(text)) {
      const so = after(state, one);
      state = so.state;
      if (one.id === entry.id) own = so;
    }
    if (text.length > LARGEST) replace(path, written({ id: 'all', state }));
    return own;
  } catch {
    forget(path);
    return null;
  }
};

/** What makes no sense makes none the next time either. */
const forget = (path: string): void => {
  try {
    rmSync(path, { force: true });
  } catch {
    // The disk takes nothing: there is nothing to be done about it here.
  }
};

const stateIn = (path: string): HookBreakers | null => {
  try {
    return entriesIn(readFileSync(path, 'utf8')).reduce((state, entry) => after(state, entry).state, noBreakers);
  } catch {
    return null;
  }
};

const callsIn = ({ said: { tool_calls = [] }, asks }: Report): readonly Call[] =>
  tool_calls
    .filter(({ outcome }) => outcome !== 'running' || asks)
    .map(({ call_id, kind, outcome, error_class }) => ({ call_id, kind, outcome, error_class }));

export const breakerFile = (path: string): BreakerFile => {
  let said = 0;
  const nextId = (): string => {
    said += 1;
    return `${process.pid}-${process.hrtime.bigint()}-${said}`;
  };
  return {
    judge: (report, now) => {
      const calls = callsIn(report);
      if (calls.length === 0 && !report.turnOver) return null;
      return told(path, { id: nextId(), at: now, turnOver: report.turnOver, calls })?.denied ?? null;
    },
    reset: (name) => told(path, { id: nextId(), reset: name })?.found ?? false,
    reports: () => {
      const state = stateIn(path);
      return state === null ? [] : breakerReports(state);
    },
  };
};
