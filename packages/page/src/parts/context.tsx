import type { Away, Knowledge } from '@vigil/read-model';
import { createContext } from 'preact';
import { useContext, useLayoutEffect, useReducer } from 'preact/hooks';
import type { Answered, Live, Route } from '../live/live.ts';
import type { Places } from '../live/place.ts';
import type { Action, Me, Sent } from '../model/commands.ts';
import { type Known, knownOf } from '../model/knowledge.ts';

/** What every view shares. */
export type Page = {
  readonly live: Live;
  readonly places: Places;
  /** epoch milliseconds, moving each second */
  readonly now: number;
  /** minutes to be added to UTC */
  readonly offsetMinutes: number;
  readonly me: Me | null;
  readonly sent: readonly Sent[];
  /** asks for the reason, then sends the command */
  readonly act: (action: Action) => void;
  /** since when changes may be missing; null: the page is current */
  readonly blindSince: number | null;
  readonly knowledge: Knowledge | null;
  /** the parts of Vigil that do not answer */
  readonly away: readonly Away[];
  /** the browser has no session, or no longer */
  readonly needsLogin: boolean;
};

export const PageContext = createContext<Page | null>(null);

export const usePage = (): Page => {
  const page = useContext(PageContext);
  if (page === null) throw new Error('A part of the page is used outside it.');
  return page;
};

/** How to show what may have changed since the page is blind. */
export const useKnown = (): Known => {
  const { blindSince, now } = usePage();
  return knownOf(blindSince, now);
};

/** The newest answer of a route, asked again after each change of its tables. */
export const useAnswer = <Answer,>(live: Live, route: Route<Answer>): Answered<Answer> => {
  const [, rerender] = useReducer<number, void>((count) => count + 1, 0);
  useLayoutEffect(() => live.watch(route, () => rerender()), [live, route.path]);
  return live.answerOf(route);
};
