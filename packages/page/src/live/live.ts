/** A place of the API, and the tables of the read model whose changes change its answer. */
export type Route<Answer> = {
  readonly path: string;
  readonly tables: readonly string[];
  /** asked this often, too, milliseconds; null: only after changes */
  readonly everyMs: number | null;
  /** between two questions, milliseconds; twice the time of the last answer, if that is longer */
  readonly leastPauseMs: number;
  readonly read: (body: unknown) => Answer;
  /** the field of a list that is read page after page; null: one answer has everything */
  readonly pagesOf: string | null;
  /** how many pages of the list are read before a person asks for more */
  readonly firstPages: number;
  /** The answer changes no more, and is not asked for regularly. A method, so that routes with different answers fit one list. */
  isFinal(answer: Answer): boolean;
};

type Body = Readonly<Record<string, unknown>>;

/** The answer, with the rows of so many pages of its list. Its `next` is that of the last one: null if there are no more. */
const answerWith = async (pages: number, get: LiveDeps['get'], { path, pagesOf }: Route<unknown>): Promise<unknown> => {
  const first = await get(path);
  if (pagesOf === null) return first;
  const rows = [...((first as Body)[pagesOf] as readonly unknown[])];
  let { next } = first as Body;
  for (let read = 1; read < pages && typeof next === 'string'; read += 1) {
    const page = (await get(`${path}?cursor=${encodeURIComponent(next)}`)) as Body;
    rows.push(...(page[pagesOf] as readonly unknown[]));
    next = page.next;
  }
  return { ...(first as Body), [pagesOf]: rows, next };
};

/** The dashboard answers that it has no states. `part`: what does not answer it; `since`: since when, epoch milliseconds. */
export class NoStates extends Error {
  override readonly name = 'NoStates';
  readonly part: string;
  readonly since: number;
  constructor(message: string, part: string, since: number) {
    super(message);
    this.part = part;
    this.since = since;
  }
}

/** The browser has no session: a login link begins one. */
export class LoginNeeded extends Error {
  override readonly name = 'LoginNeeded';
}

/**
 * What is known of an answer. `error`: why the last question failed; null: it was answered. `part` and `since`: what does
 * not answer the dashboard, and since when, epoch milliseconds; null: it has reported none. `needsLogin`: the page has no
 * session.
 */
export type Answered<Answer> = {
  readonly value: Answer | null;
  readonly error: string | null;
  readonly part: string | null;
  readonly since: number | null;
  readonly needsLogin: boolean;
};

/** The page reaches the dashboard only by these. */
export type LiveDeps = {
  /** the body of an answer. Throws an error whose message is for people. */
  readonly get: (path: string) => Promise<unknown>;
  /** opens the stream of changes; returns how it ends */
  readonly changes: (on: StreamListener) => () => void;
  /** calls later; returns how to prevent it */
  readonly later: (ms: number, work: () => void) => () => void;
  /** milliseconds of a clock that never goes back */
  readonly now: () => number;
};

export type StreamListener = {
  /** the stream is open: an earlier change may have been missed */
  readonly opened: () => void;
  /** rows of these tables have changed */
  readonly changed: (tables: readonly string[]) => void;
  /** the stream is closed: changes may be missed */
  readonly lost: () => void;
};

type Watched = {
  readonly route: Route<unknown>;
  readonly listeners: Set<() => void>;
  /** of its list */
  pages: number;
  answered: Answered<unknown>;
  isAsking: boolean;
  /** a change happened that the newest answer may not have */
  isStale: boolean;
  askedAt: number;
  /** how long the last answer took, milliseconds */
  tookMs: number;
  stopWaiting: () => void;
};

export type Live = {
  /** calls `onChange` with each new answer until the returned function is called */
  readonly watch: <Answer>(route: Route<Answer>, onChange: () => void) => () => void;
  readonly answerOf: <Answer>(route: Route<Answer>) => Answered<Answer>;
  /** reads one more page of a list that a view watches, also after each change */
  readonly readMore: (route: Route<unknown>) => void;
  /** asks for everything again */
  readonly refresh: () => void;
  readonly close: () => void;
};

const UNKNOWN: Answered<never> = { value: null, error: null, part: null, since: null, needsLogin: false };

const failed = (value: unknown, error: unknown): Answered<unknown> => ({
  ...{ value, error: (error as Error).message },
  part: error instanceof NoStates ? error.part : null,
  since: error instanceof NoStates ? error.since : null,
  needsLogin: error instanceof LoginNeeded,
});

/**
 * Keeps the watched answers current. A change marks answers as stale, and a stale answer is asked for again. So no change
 * is lost or applied twice, also during a question or a reconnect.
 */
export const openLive = (deps: LiveDeps): Live => {
  const watched = new Map<string, Watched>();

  const notify = (one: Watched): void => {
    for (const listener of [...one.listeners]) listener();
  };

  const settle = (one: Watched, answered: Answered<unknown>): void => {
    one.isAsking = false;
    one.answered = answered;
    notify(one);
    schedule(one);
  };

  const ask = (one: Watched): void => {
    one.isAsking = true;
    one.isStale = false;
    one.askedAt = deps.now();
    answerWith(one.pages, deps.get, one.route)
      .then(one.route.read)
      .then(
        (value) => {
          one.tookMs = deps.now() - one.askedAt;
          settle(one, { ...UNKNOWN, value });
        },
        (error: unknown) => settle(one, failed(one.answered.value, error)),
      );
  };

  const schedule = (one: Watched): void => {
    one.stopWaiting();
    one.stopWaiting = () => {};
    if (one.isAsking || one.listeners.size === 0) return;
    const { answered, route } = one;
    const hasFailed = answered.error !== null;
    const isFinal = !hasFailed && answered.value !== null && route.isFinal(answered.value);
    const everyMs = isFinal ? null : route.everyMs;
    const least = Math.max(route.leastPauseMs, 2 * one.tookMs);
    // A slow answer is not asked for more often. Changes do not delay one that is asked for regularly.
    const pause = one.isStale ? Math.min(least, everyMs ?? least) : hasFailed ? (everyMs ?? 2000) : everyMs;
    if (pause === null) return;
    const wait = Math.max(0, one.askedAt + pause - deps.now());
    if (wait === 0) ask(one);
    else one.stopWaiting = deps.later(wait, () => ask(one));
  };

  const markStale = (isMeant: (one: Watched) => boolean): void => {
    for (const one of watched.values())
      if (isMeant(one)) {
        one.isStale = true;
        schedule(one);
      }
  };

  const stop = deps.changes({
    opened: () => markStale(() => true),
    changed: (tables) => markStale(({ route }) => route.tables.some((table) => tables.includes(table))),
    // Without the stream the page asks at each attempt to open it again.
    lost: () => markStale(() => true),
  });

  const entryOf = (route: Route<unknown>): Watched => {
    const known = watched.get(route.path);
    if (known !== undefined) return known;
    const listeners = new Set<() => void>();
    const one = {
      ...{ route, listeners, pages: route.firstPages, answered: UNKNOWN, isAsking: false, isStale: true },
      ...{ askedAt: Number.NEGATIVE_INFINITY, tookMs: 0, stopWaiting: () => {} },
    };
    watched.set(route.path, one);
    return one;
  };

  return {
    watch: (route, onChange) => {
      const one = entryOf(route);
      one.listeners.add(onChange);
      if (one.listeners.size === 1) one.isStale = true;
      schedule(one);
      return () => {
        one.listeners.delete(onChange);
        if (one.listeners.size > 0) return;
        one.stopWaiting();
        watched.delete(route.path);
      };
    },
    answerOf: <Answer>(route: Route<Answer>) => (watched.get(route.path)?.answered ?? UNKNOWN) as Answered<Answer>,
    readMore: ({ path }) => {
      const one = watched.get(path);
      if (one === undefined) return;
      one.pages += 1;
      one.isStale = true;
      schedule(one);
    },
    refresh: () => markStale(() => true),
    close: () => {
      stop();
      for (const one of watched.values()) one.stopWaiting();
    },
  };
};
