import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Adapter, HookPayload } from './adapter.ts';
import { adapterOfEntry, adapterOfPrinted, printedSessions, recordedSession } from './recorded-session.ts';
import {
  recordedHooks,
  recordedRuns,
  recordedSameRuns,
  recordedStreams,
  recordedTranscripts,
} from './recordings.fixture.ts';
import { isSeen } from './session/events.ts';
import { newSession, observe, type SessionEvent } from './session/session.ts';

export type AdapterExpectations = {
  readonly adapter: Adapter;
  /** recorded events that have no facts for Vigil */
  readonly withoutFacts: readonly string[];
  /** words of recorded prompts, arguments and results, which must not appear in any fact */
  readonly content: readonly string[];
  /** the number of calls in recorded streams, if it is known */
  readonly streamedCalls: Readonly<Record<string, number>>;
  /** command lines of an interactive and of a headless session */
  readonly interactive: string;
  readonly headless: string;
  /** command lines that start no session */
  readonly others: readonly string[];
};

const texts = ['Are you there?', 'Save your work.'];

/** Each client with hooks names its events in this field. */
const nameOf = (payload: HookPayload): string => String(payload.hook_event_name);

const line = (text: string) => {
  const [command = '', ...args] = text.split(' ');
  return { command, args };
};

const count = (text: string | null, part: string): number => (text ?? '').split(part).length - 1;

/** Any recorded event, with fields that are missing or of another type. */
const odd = (payloads: readonly HookPayload[]) =>
  fc
    .tuple(
      fc.constantFrom(...payloads),
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.infiniteStream(fc.jsonValue()),
      fc.nat(),
    )
    .map(([payload, more, values, nth]) => {
      const keys = Object.keys(payload).filter((key) => key !== 'hook_event_name');
      const changed = keys.filter((_, index) => (nth >> index) % 2 === 1);
      return { ...more, ...payload, ...Object.fromEntries(changed.map((key) => [key, values.next().value])) };
    });

/** Folds events in order: the end of each call, in the order of ends, and the last reports. */
const folded = (events: readonly SessionEvent[]) => {
  let session = newSession;
  const ends = new Map<string, string>();
  const running = new Set<string>();
  for (const event of events) {
    const observed = observe(session, event);
    session = observed.session;
    for (const { fields } of observed.reports)
      for (const { call_id, tool, outcome, error_class } of fields.tool_calls ?? []) {
        if (outcome === 'running') running.add(call_id);
        else ends.set(call_id, `${tool} ${outcome} ${error_class}`);
      }
  }
  const open = [...running].filter((id) => !ends.has(id));
  return { session, ends: [...ends.values()], open };
};

const inOrder = (events: readonly SessionEvent[]): readonly SessionEvent[] =>
  [...events].sort((one, other) => one.at - other.at);

const streamEvents = (adapter: Adapter, run: string): readonly SessionEvent[] => {
  let state = adapter.stream.initial;
  return (recordedStreams(adapter.name).get(run) ?? []).flatMap(({ line }, index) => {
    const read = adapter.stream.read(state, line, 1000 * (index + 1));
    state = JSON.parse(JSON.stringify(read.state));
    return read.events;
  });
};

const transcriptEvents = (adapter: Adapter, run: string): readonly SessionEvent[] => {
  let state = adapter.transcript.initial;
  return (recordedTranscripts(adapter.name).get(run) ?? []).flatMap(({ line }) => {
    const read = adapter.transcript.read(state, line);
    state = JSON.parse(JSON.stringify(read.state));
    return read.events;
  });
};

/** Sorts events by their times. */
const fileEvents = (adapter: Adapter, run: string): readonly SessionEvent[] => {
  let state = adapter.sessionFile.initial;
  const events = (recordedTranscripts(adapter.name).get(run) ?? []).flatMap(({ line }) => {
    const read = adapter.sessionFile.read(state, line);
    state = JSON.parse(JSON.stringify(read.state));
    return read.events;
  });
  return inOrder(events);
};

/** The contract of every client's adapter. */
export const adapterContract = (expectations: AdapterExpectations): void => {
  const { adapter } = expectations;
  const { hooks } = adapter;
  const recorded = recordedHooks(adapter.name);

  describe(`hooks of ${adapter.name}`, () => {
    test('every recorded event is understood', () => {
      const silent = recorded.filter(({ payload, at }) => hooks.eventsOf(payload, at).length === 0);
      expect([...new Set(silent.map(({ payload }) => nameOf(payload)))].sort()).toEqual(
        [...expectations.withoutFacts].sort(),
      );
      for (const { payload } of recorded) expect(hooks.sessionOf(payload)).not.toBeNull();
    });

    test('every requested event is recorded from the real client', () => {
      const names = new Set(recorded.map(({ payload }) => nameOf(payload)));
      expect(hooks.events.filter((name) => !names.has(name))).toEqual([]);
    });

    test('every call that starts ends, in every recorded run that ends', () => {
      for (const [run, events] of recordedRuns(adapter.name)) {
        const facts = events.flatMap(({ payload, at }) => hooks.eventsOf(payload, at));
        const { open } = folded(facts);
        if (facts.some(({ kind }) => kind === 'session_ended')) expect([run, open]).toEqual([run, []]);
      }
    });

    test('no fact contains content of a prompt, an argument or a result', () => {
      const facts = JSON.stringify(recorded.map(({ payload, at }) => hooks.eventsOf(payload, at)));
      const payloads = JSON.stringify(recorded.map(({ payload }) => payload));
      for (const word of expectations.content) {
        expect(payloads).toContain(word);
        expect(facts).not.toContain(word);
      }
    });

    test('an unknown event or an odd payload never throws', () => {
      expect(hooks.eventsOf({ hook_event_name: 'Unheard' }, 1)).toEqual([]);
      expect(hooks.eventsOf({}, 1)).toEqual([]);
      const check = (payload: HookPayload) => {
        let session = newSession;
        for (const event of hooks.eventsOf(payload, 1000)) session = observe(session, event).session;
        hooks.sessionOf(payload);
        hooks.transcriptsOf(payload);
        hooks.answer(payload, texts, 'no');
        expect(JSON.parse(JSON.stringify(session))).toEqual(session);
      };
      fc.assert(fc.property(odd(recorded.map(({ payload }) => payload)), check));
    });

    test('an answer has each text, or the refusal, once, and only for events whose answer the client reads', () => {
      for (const { payload } of recorded) {
        const { takesText, canRefuse } = hooks.abilities(payload);
        expect(hooks.answer(payload, [], null)).toBeNull();
        const withTexts = hooks.answer(payload, texts, null);
        for (const text of texts) expect(count(withTexts, text)).toBe(takesText ? 1 : 0);
        const refusing = hooks.answer(payload, texts, 'The limit is reached.');
        expect(count(refusing, 'The limit is reached.')).toBe(canRefuse ? 1 : 0);
        if (canRefuse) expect(count(refusing, 'Save your work.')).toBe(0);
      }
    });

    test('a text continues a turn once: a turn that a hook has already continued ends', () => {
      const ending = recorded.filter(({ payload }) => hooks.abilities(payload).continuesTurn);
      expect(ending).not.toEqual([]);
      for (const { payload } of ending) {
        const continued = { ...payload, stop_hook_active: true };
        expect(hooks.abilities(continued).continuesTurn).toBe(false);
        expect(hooks.answer(continued, texts, null) ?? '').not.toContain('decision');
        expect(hooks.abilities({ ...payload, stop_hook_active: false }).continuesTurn).toBe(true);
      }
    });
  });

  describe(`streams and files of sessions of ${adapter.name}`, () => {
    const streams = [...recordedStreams(adapter.name).keys()];

    test.each(streams)('every call that starts in the stream %s ends, and the session has an id', (run) => {
      const { ends, open, session } = folded(streamEvents(adapter, run));
      expect(open).toEqual([]);
      expect(ends.length).toBe(expectations.streamedCalls[run] ?? ends.length);
      expect(session.main.turn?.open).toBe(false);
      const ids = (recordedStreams(adapter.name).get(run) ?? []).map(
        ({ line: text }) => adapter.stream.read(adapter.stream.initial, text, 1).sessionId,
      );
      expect(new Set(ids.filter((id) => id !== null)).size).toBe(1);
    });

    test.each([...recordedSameRuns(adapter.name).keys()])(
      'hooks with the file of the session, and the stream, of %s report the same calls and tokens, or that they are unknown',
      (run) => {
        const hooked = (recordedSameRuns(adapter.name).get(run) ?? [])
          .filter(({ payload }) => hooks.events.includes(nameOf(payload)))
          .flatMap(({ payload, at }) => hooks.eventsOf(payload, at));
        const byHook = folded(inOrder([...transcriptEvents(adapter, run), ...hooked]));
        const byStream = folded(streamEvents(adapter, run));
        // Codex makes calls that it reports in no hook and no stream. Only the session file shows them, at most with their failure.
        const known = (ends: readonly string[]) => ends.filter((end) => !/ (?:abandoned|error tool_error)\b/.test(end));
        expect(byStream.ends.length).toBeLessThanOrEqual(byHook.ends.length);
        expect(byStream.ends.length).toBeGreaterThanOrEqual(known(byHook.ends).length);
        expect(known(byStream.ends).filter((end) => !byHook.ends.includes(end))).toEqual([]);
        const [hookTokens, streamTokens] = [byHook, byStream].map(({ session }) =>
          session.main.usage.map((one) => ({ ...one, model: null })),
        );
        if (byHook.ends.length > 0) expect(hookTokens).toHaveLength(1);
        if (streamTokens?.length !== 0) expect(streamTokens).toEqual(hookTokens);
        expect(byStream.session.main.obstacle).toEqual(byHook.session.main.obstacle);
        expect(Object.keys(byStream.session.subagents)).toEqual(Object.keys(byHook.session.subagents));
      },
    );

    test.each([...recordedSameRuns(adapter.name).keys()])(
      'the file of the session %s alone reports the calls, tokens, obstacles and sub-agents that hooks report with it',
      (run) => {
        const hooked = (recordedSameRuns(adapter.name).get(run) ?? [])
          .filter(({ payload }) => hooks.events.includes(nameOf(payload)))
          .flatMap(({ payload, at }) => hooks.eventsOf(payload, at));
        const written = transcriptEvents(adapter, run).filter((event) => !isSeen(event));
        const byHook = folded(inOrder([...written, ...hooked]));
        const byFile = folded(fileEvents(adapter, run));
        // A call of an unknown tool never reaches a hook.
        const unsupported = byFile.ends.filter((end) => byHook.ends.length === 0 && end.endsWith(' error tool_error'));
        expect(byFile.open).toEqual([]);
        expect(byFile.ends.filter((end) => !unsupported.includes(end)).sort()).toEqual([...byHook.ends].sort());
        if (byHook.ends.length > 0) expect(byFile.session.main.usage).toEqual(byHook.session.main.usage);
        expect(byFile.session.main.obstacle).toEqual(byHook.session.main.obstacle);
        expect(Object.keys(byFile.session.subagents)).toEqual(Object.keys(byHook.session.subagents));
        const types = [byHook, byFile].map(({ session }) => Object.values(session.subagents).map(({ type }) => type));
        expect(types[1]).toEqual(types[0]);
      },
    );

    test('the session file is recognised as this client’s and no other’s, and names the session', () => {
      for (const [run, lines] of recordedTranscripts(adapter.name)) {
        const entries = lines.map(({ line: text }): HookPayload => JSON.parse(text));
        const clients = entries.flatMap((entry) => adapterOfEntry(entry)?.name ?? []);
        expect([run, [...new Set(clients)]]).toEqual([run, [adapter.name]]);
        const { id } = recordedSession(adapter, [lines.map(({ line: text }) => text)]);
        const session = recordedSameRuns(adapter.name).get(run)?.[0]?.payload;
        expect(id).toBe(session === undefined ? id : hooks.sessionOf(session));
      }
    });

    test('the stream is recognised by its first line as this client’s and no other’s', () => {
      for (const [run, lines] of recordedStreams(adapter.name)) {
        const entries = lines.map(({ line: text }): HookPayload => JSON.parse(text.startsWith('{') ? text : '{}'));
        expect([run, adapterOfPrinted(entries[0] ?? {})?.name]).toEqual([run, adapter.name]);
        const clients = entries.flatMap((entry) => [
          adapterOfPrinted(entry)?.name ?? [],
          adapterOfEntry(entry)?.name ?? [],
        ]);
        expect([run, [...new Set(clients.flat())]]).toEqual([run, [adapter.name]]);
        const [session, ...others] = printedSessions(
          adapter,
          lines.map(({ line: text }) => text),
          1_000,
        );
        expect([run, others]).toEqual([run, []]);
        expect(session?.reports.length).toBeGreaterThan(0);
      }
    });

    test.each([...recordedSameRuns(adapter.name).keys()])(
      'hooks and stream give the session of %s the same id',
      (run) => {
        const hooked = (recordedSameRuns(adapter.name).get(run) ?? []).map(({ payload }) => hooks.sessionOf(payload));
        const printed = (recordedStreams(adapter.name).get(run) ?? []).map(
          ({ line: text }) => adapter.stream.read(adapter.stream.initial, text, 1).sessionId,
        );
        expect(new Set(printed.filter((id) => id !== null))).toEqual(new Set(hooked));
      },
    );

    test('an odd line never throws', () => {
      const lines = [...recordedStreams(adapter.name).values(), ...recordedTranscripts(adapter.name).values()]
        .flat()
        .map(({ line: text }): HookPayload => JSON.parse(text.startsWith('{') ? text : '{}'));
      fc.assert(
        fc.property(odd(lines), (entry) => {
          const text = JSON.stringify(entry);
          const events = [
            ...adapter.stream.read(adapter.stream.initial, text, 1).events,
            ...adapter.transcript.read(adapter.transcript.initial, text).events,
            ...adapter.sessionFile.read(adapter.sessionFile.initial, text).events,
          ];
          expect(folded(events).session).toBeDefined();
        }),
      );
      for (const text of ['', 'text', '[]', '{', '{}', 'null']) {
        expect(adapter.stream.read(adapter.stream.initial, text, 1).events).toEqual([]);
        expect(adapter.sessionFile.read(adapter.sessionFile.initial, text).events).toEqual([]);
      }
    });
  });

  describe(`command lines of ${adapter.name}`, () => {
    const interactive = line(expectations.interactive);
    const headless = line(expectations.headless);

    test('an interactive session is interrupted by a key, a headless one by a signal', () => {
      const typed = adapter.invocation(interactive);
      const run = adapter.invocation(headless);
      expect(typed).toEqual({ headless: false, streamsEvents: false, printsProgress: false });
      expect(run).toEqual({ headless: true, streamsEvents: true, printsProgress: true });
      expect(typed && adapter.interrupt(typed)).toEqual({ kind: 'key', data: '\x1b' });
      expect(run && adapter.interrupt(run)).toEqual({ kind: 'signal', signal: 'SIGINT' });
    });

    test.each(expectations.others)('%s starts no session', (text) => {
      expect(adapter.invocation(line(text))).toBeNull();
      expect(adapter.resume(line(text), 's-1', 'Go on.')).toBeNull();
    });

    test('a resumed session is of the same kind, has the text once, and can be resumed again', () => {
      for (const start of [interactive, headless]) {
        const once = adapter.resume(start, 's-1', '--go on');
        const twice = once === null ? null : adapter.resume(once, 's-2', 'Go on.');
        expect(once && adapter.invocation(once)).toEqual(adapter.invocation(start));
        expect(count(once?.args.join(' ') ?? '', '--go on')).toBe(1);
        expect(twice?.args.join(' ')).not.toContain('--go on');
        expect(twice?.args.join(' ')).not.toContain('s-1');
        expect(count(twice?.args.join(' ') ?? '', 's-2')).toBe(1);
      }
    });

    test.each(['!touch ran', '  /exit', '\n# note', '@secrets.txt', '\u0007!touch ran'])(
      'the text %j reaches the model, and is not a command to the client',
      (text) => {
        const sent = [interactive, headless].map((start) => adapter.resume(start, 's-1', text)?.args.at(-1));
        for (const one of [adapter.typed(text).text.slice('\x1b[200~'.length), ...sent])
          expect(one?.replace(/^--prompt(-interactive)?=/, '').search(/[\p{L}\p{N}]/u)).toBe(0);
      },
    );

    test('a text is typed as one paste that its content cannot end, and Enter separately', () => {
      const { text, submit } = adapter.typed('one\r\ntwo\x1b[201~\x03\r');
      const [before, pasted, after] = text.split(/\p{Cc}/u);
      expect([before, pasted?.startsWith('[200~one two'), after]).toEqual(['', true, '[201~']);
      expect(submit).toBe('\r');
    });
  });
};
