// Generated from packages/sdk/src/hook/breaker-file.ts by `npm run generate`: for Node 18, which reads no TypeScript.
import { appendFileSync, readFileSync, rmSync } from 'node:fs';
import { asked, breakerReports, closedByOrder, ended,                    noBreakers, turnOver } from './breakers.mjs';
import { replace } from './replace.mjs';
/** The breakers of a session that no supervisor watches. Whatever is wrong with the disk: nothing is judged, and nothing denied. */
/** One line of the file. */
/** Longer than this it is written anew as what it comes to: a turn of some 200 calls. Bytes. */
const LARGEST = 32 << 10;
const called = (before       , call      , at        )        => {
  if (call.outcome !== 'running') return { ...before, state: ended(before.state, call, at) };
  const { state, denied } = asked(before.state, call, at);
  return { ...before, state, denied: before.denied ?? denied };
};
const after = (state              , entry       )        => {
  if ('state' in entry) return { state: entry.state, denied: null, found: true };
  if ('reset' in entry) {
    const closed = closedByOrder(state, entry.reset);
    return { state: closed ?? state, denied: null, found: closed !== undefined };
  }
  const begun        = { state: entry.turnOver ? turnOver(state) : state, denied: null, found: true };
  return entry.calls.reduce((so, call) => called(so, call, entry.at), begun);
};
/** The last line may be torn. */
const entriesIn = (text        )                   =>
  text.split('\n').flatMap((line) => {
    try {
      return line === '' ? [] : [JSON.parse(line)         ];
    } catch {
      return [];
    }
  });
const written = (entry       )         => `${JSON.stringify(entry)}\n`;
/**
 * Each hook adds its line and reads what all lines come to, its own among them: the order of the lines is one order for all hooks that run
 * beside each other, without a lock. What is added while the file is written anew is lost: a failure that does not count.
 */
const told = (path        , entry       )               => {
  try {
    appendFileSync(path, written(entry), { mode: 0o600 });
    const text = readFileSync(path, 'utf8');
    let state = noBreakers;
    let own               = null;
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
const forget = (path        )       => {
  try {
    rmSync(path, { force: true });
  } catch {
    // The disk takes nothing: there is nothing to be done about it here.
  }
};
const stateIn = (path        )                      => {
  try {
    return entriesIn(readFileSync(path, 'utf8')).reduce((state, entry) => after(state, entry).state, noBreakers);
  } catch {
    return null;
  }
};
const callsIn = ({ said: { tool_calls = [] }, asks }        )                  =>
  tool_calls
    .filter(({ outcome }) => outcome !== 'running' || asks)
    .map(({ call_id, kind, outcome, error_class }) => ({ call_id, kind, outcome, error_class }));
export const breakerFile = (path        )              => {
  let said = 0;
  const nextId = ()         => {
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
