import { describe, expect, test } from 'vitest';
import { type Cut, type Findings, findingsBy, type Way } from './ways.ts';

const FOUR_CALLS: Findings = [{ to: 'DEGRADED', signals: ['repeating'] }];
const LOOP: Findings = [
  ...FOUR_CALLS,
  { to: 'STUCK', signals: ['looping'] },
  { to: 'FAILING', signals: ['looping_badly'] },
];
const HANG: Findings = [{ to: 'STUCK', signals: ['no_model_answer'] }];
const NOTHING: Findings = [];

type Session = {
  readonly what: string;
  readonly client: string;
  readonly run: string;
  /** the recorded telemetry */
  readonly exports: string;
  readonly cut: Cut;
  readonly found: Findings;
  /** the ways that do not report enough */
  readonly unknownBy: readonly Way[];
};

const SESSIONS: readonly Session[] = [
  {
    what: 'a loop',
    client: 'claude-code',
    run: 'cc-loops',
    exports: 'claude-code.loops',
    cut: 'whole',
    found: LOOP,
    unknownBy: [],
  },
  {
    what: 'a working session',
    client: 'claude-code',
    run: 'cc-works',
    exports: 'claude-code.works',
    cut: 'whole',
    found: NOTHING,
    unknownBy: ['telemetry'],
  },
  {
    what: 'a hang',
    client: 'claude-code',
    run: 'cc-works',
    exports: 'claude-code.works',
    cut: 'hang',
    found: HANG,
    unknownBy: ['telemetry', 'file'],
  },
  {
    what: 'a loop',
    client: 'codex',
    run: 'cx-loops',
    exports: 'codex.loops',
    cut: 'whole',
    found: LOOP,
    unknownBy: [],
  },
  {
    what: 'a working session',
    client: 'codex',
    run: 'cx-works',
    exports: 'codex.works',
    cut: 'whole',
    found: NOTHING,
    unknownBy: ['telemetry'],
  },
  {
    what: 'a hang',
    client: 'codex',
    run: 'cx-works',
    exports: 'codex.works',
    cut: 'hang',
    found: HANG,
    unknownBy: ['telemetry', 'file'],
  },
  // Gemini CLI ends a loop itself after four calls, and neither its stream nor its telemetry has exit codes.
  {
    what: 'a loop of four calls',
    client: 'gemini-cli',
    run: 'gm-loops',
    exports: 'gemini-cli.loops',
    cut: 'whole',
    found: FOUR_CALLS,
    unknownBy: ['stream', 'telemetry'],
  },
  {
    what: 'a working session',
    client: 'gemini-cli',
    run: 'gm-works',
    exports: 'gemini-cli.works',
    cut: 'whole',
    found: NOTHING,
    unknownBy: ['stream', 'telemetry'],
  },
  {
    what: 'a hang',
    client: 'gemini-cli',
    run: 'gm-works',
    exports: 'gemini-cli.works',
    cut: 'hang',
    found: HANG,
    unknownBy: ['telemetry', 'file'],
  },
];

const WAYS: readonly Way[] = ['hooks', 'stream', 'telemetry', 'file'];

describe.each(SESSIONS.map((session) => ({ ...session, session })))('$what of $client ($run)', ({ session }) => {
  test.each(WAYS)('by %s, it gets the result of its hooks, or none', (way) => {
    const expected = session.unknownBy.includes(way) ? 'unknown' : session.found;
    expect(findingsBy(way, session, session.cut)).toEqual(expected);
  });
});

test('a loop of Claude Code gets the same result by spans alone', () => {
  const loops = { client: 'claude-code', run: 'cc-loops', exports: 'claude-code.traces-loops' };
  expect(findingsBy('telemetry', loops, 'whole')).toEqual(LOOP);
});

test('the result by hooks is defined for every session', () => {
  expect(SESSIONS.filter(({ unknownBy }) => unknownBy.includes('hooks'))).toEqual([]);
});
