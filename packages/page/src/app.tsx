import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { get, post } from './live/browser.ts';
import type { Answered, Live } from './live/live.ts';
import type { Places } from './live/place.ts';
import { type FleetAnswer, ROUTES } from './live/routes.ts';
import { type Outcome, sendAction } from './live/send.ts';
import { type Action, type Command, isUnderWay, type Sent, whoText, withSent } from './model/commands.ts';
import { EVERYTHING, type Filter } from './model/fleet.ts';
import { noticeOf, reviewOf, statusOf } from './model/inbox/reviews.ts';
import { keyAction } from './model/keys.ts';
import { awayOf, blindSinceOf, CONNECTED, type Connection, connectionAfter } from './model/knowledge.ts';
import { hashOf, isUnknownAddress, type Place, titleOf, type ViewName } from './model/places.ts';
import { plain } from './model/text.ts';
import { Ask } from './parts/ask.tsx';
import { type Page, PageContext, useAnswer } from './parts/context.tsx';
import { focusField } from './parts/field.ts';
import { reachableCell } from './parts/grid.tsx';
import { Help } from './parts/help.tsx';
import { Away, FleetLines, FleetMarks, KnowledgeLine, Navigation, Notice, Outcomes } from './parts/shell.tsx';
import { View } from './views/view.tsx';

const SECOND_MS = 1000;
/** How long a finished command stays, milliseconds; a refused one stays until it is dismissed. */
const SHOWN_MS = 8000;

const useNow = (): number => {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), SECOND_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
};

const usePlace = (places: Places): Place => {
  const [place, setPlace] = useState(() => places.current());
  useLayoutEffect(() => places.watch(setPlace), [places]);
  return place;
};

const useConnection = (fleet: Answered<FleetAnswer>): Connection => {
  const [connection, setConnection] = useState(CONNECTED);
  useEffect(() => setConnection((before) => connectionAfter(before, fleet, Date.now())), [fleet]);
  return connection;
};

const outcomeOf = async (eventId: string, waitS: number): Promise<Outcome> =>
  (await get(`/v1/commands/${eventId}?wait=${waitS}`, (waitS + 5) * SECOND_MS)) as Outcome;

type Sending = {
  readonly sent: readonly Sent[];
  readonly send: (action: Action, why: string) => void;
  readonly dismiss: (id: number) => void;
};

const useSending = (live: Live): Sending => {
  const [sent, setSent] = useState<readonly Sent[]>([]);
  const ids = useRef(0);
  const dismiss = useCallback((id: number) => setSent((before) => before.filter((one) => one.id !== id)), []);
  const send = (action: Action, why: string): void => {
    ids.current += 1;
    const onChange = (one: Sent): void => {
      setSent((before) => withSent(before, one));
      if (isUnderWay(one)) return;
      live.refresh();
      if (one.became.kind === 'applied') setTimeout(() => dismiss(one.id), SHOWN_MS);
    };
    const write = async (command: object) => ((await post('/v1/commands', command)) as { eventId: string }).eventId;
    void sendAction(ids.current, action, why, { write, outcomeOf, now: Date.now, onChange });
  };
  return { sent, send, dismiss };
};

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.matches('input, textarea, select') || target.closest('dialog') !== null);

type Keys = { readonly places: Places; readonly onHelp: () => void; readonly onReview: () => void };

const findAgents = (places: Places): void => {
  const field = document.getElementById('find');
  if (field instanceof HTMLInputElement) focusField(field);
  else places.openFleet('field');
};

const view = (): HTMLElement | null => document.getElementById('view');

/** Nothing that takes keys has the focus. */
const isInView = (target: EventTarget | null): boolean => target === document.body || target === view();

/** Opens a view, whose keys work at once: no link of the navigation keeps the focus. */
const openView = (places: Places, name: ViewName): void => {
  view()?.focus({ preventScroll: true });
  if (name === 'fleet') places.openFleet('cells');
  else places.go({ view: name, id: null, query: '' });
  const cell = reachableCell();
  if (cell !== null && places.takesFocus('cells')) cell.focus();
};

const useKeys = ({ places, onHelp, onReview }: Keys): void => {
  /** The last key was `g`. */
  const isAfterG = useRef(false);
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const withModifier = event.ctrlKey || event.altKey || event.metaKey;
      const afterG = isAfterG.current;
      const inField = isField(event.target);
      const inView = isInView(event.target);
      isAfterG.current = event.key === 'g' && !inField && !withModifier;
      const action = keyAction({ key: event.key, withModifier, inField, afterG, inView });
      const cell = action?.kind === 'cell' ? reachableCell() : null;
      if (action === null || (action.kind === 'cell' && cell === null)) return;
      event.preventDefault();
      if (action.kind === 'go') openView(places, action.view);
      if (action.kind === 'cell') action.isOpened ? cell?.click() : cell?.focus();
      if (action.kind === 'find') findAgents(places);
      if (action.kind === 'help') onHelp();
      if (action.kind === 'review') onReview();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
};

export const App = ({ live, places }: { readonly live: Live; readonly places: Places }) => {
  const now = useNow();
  const place = usePlace(places);
  const me = useAnswer(live, ROUTES.me);
  const fleet = useAnswer(live, ROUTES.fleet);
  const inbox = useAnswer(live, ROUTES.inbox);
  const tickets = useAnswer(live, ROUTES.tickets).value?.tickets ?? [];
  const connection = useConnection(fleet);
  const { sent, send, dismiss } = useSending(live);
  const [asked, setAsked] = useState<Action | null>(null);
  const [hasHelp, setHasHelp] = useState(false);
  // A dialog is about the view below it.
  useLayoutEffect(() => {
    setAsked(null);
    setHasHelp(false);
  }, [place]);
  const [filter, setFilter] = useState<Filter>(EVERYTHING);
  const [dismissed, setDismissed] = useState<ReadonlySet<string>>(new Set());

  const review = reviewOf(tickets);
  const notice = noticeOf(review, dismissed, now);
  const status = statusOf(tickets, now);
  const openReview = (): void => {
    if (review?.agentId) places.go({ view: 'fleet', id: review.agentId, query: '' });
  };
  useKeys({ places, onHelp: () => setHasHelp(true), onReview: openReview });

  const title = titleOf(place);
  const waiting = inbox.value?.inbox.length ?? 0;
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${title} - Vigil`;
  }, [title, waiting]);

  const knowledge = fleet.value?.knowledge ?? null;
  const page: Page = {
    ...{ live, places, now, sent, knowledge, act: setAsked, needsLogin: connection.needsLogin },
    // Without a session no command is sent.
    me: connection.needsLogin ? null : me.value,
    offsetMinutes: -new Date(now).getTimezoneOffset(),
    blindSince: blindSinceOf(knowledge, connection),
    away: awayOf(fleet, connection),
  };
  const onSend = (command: Command, why: string): void => {
    if (asked !== null) send({ ...asked, command }, why);
    setAsked(null);
  };

  return (
    <PageContext.Provider value={page}>
      <button type="button" class="skip" onClick={() => document.getElementById('view')?.focus()}>
        Skip to the view
      </button>
      <header class="head">
        <span class={knowledge === null ? 'brand unknown' : page.blindSince === null ? 'brand' : 'brand blind'}>
          Vigil
        </span>
        {fleet.value !== null && <FleetMarks fleet={fleet.value.fleet} />}
        <KnowledgeLine />
        {status !== null && (
          <p class="status" role="status">
            {status}
          </p>
        )}
        <span class="who">{page.me !== null && whoText(page.me)}</span>
        <button type="button" class="button quiet" aria-label="Keys" onClick={() => setHasHelp(true)}>
          ?
        </button>
      </header>
      <Navigation current={place.view} waiting={waiting} />
      <main id="view" class="view" tabIndex={-1} aria-labelledby="title">
        {isUnknownAddress(location.hash) && (
          <p class="problem">No view has the address {plain(location.hash)}. This is the inbox.</p>
        )}
        <Away />
        {fleet.value !== null && <FleetLines fleet={fleet.value.fleet} />}
        {place.id === null && <h1 id="title">{title}</h1>}
        <View key={hashOf(place)} place={place} fleet={fleet.value} filter={filter} onFilter={setFilter} />
      </main>
      {review !== null && (
        <footer class="foot">
          <kbd>q</kbd> operator review of {review.agentId}
        </footer>
      )}
      <div class="stack">
        {notice !== null && (
          <Notice ticket={notice} onDismiss={() => setDismissed(new Set([...dismissed, notice.ticketId]))} />
        )}
        <Outcomes sent={sent} onDismiss={dismiss} />
      </div>
      {asked !== null && (
        <Ask
          key={asked.key}
          action={asked}
          isBlind={page.blindSince !== null}
          onSend={onSend}
          onCancel={() => setAsked(null)}
        />
      )}
      {hasHelp && <Help onClose={() => setHasHelp(false)} />}
    </PageContext.Provider>
  );
};
