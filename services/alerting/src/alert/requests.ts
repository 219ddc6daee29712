import type { Notice } from '../notices/notice.ts';
import { WAIT_ROUTE } from '../notices/questions/request-notices.ts';
import type { Alert, Asked } from './alert-state.ts';
import { type Content, contentOf } from './content.ts';
import type { Input } from './messages.ts';

/** Intervention opens at most so many for one agent. */
const MOST = 30;

/** With the requests that wait after an input, the newest last. One that waits at another ingress keeps its place. */
export const withRequests = (state: Alert, input: Input): Alert => {
  if (input.type !== 'NOTIFY' || input.payload.requestId === null) return state;
  const { action, requestId } = input.payload;
  const { requests = [] } = state;
  const others = requests.filter((one) => one.requestId !== requestId);
  switch (action) {
    case 'raise': {
      const content = contentOf(input.payload);
      if (others.length < requests.length)
        return { ...state, requests: requests.map((one) => (one.requestId === requestId ? content : one)) };
      return { ...state, requests: [...requests, content].slice(-MOST) };
    }
    case 'settle':
      return others.length === requests.length ? state : { ...state, requests: others };
    case 'resolve':
      return requests.length === 0 ? state : { ...state, requests: [] };
    case 'dismiss':
    case 'inhibit':
    case 'release':
    case 'hold':
    case 'unhold':
    case 'UNKNOWN':
      return state;
  }
};

/** The content of an alert while requests wait: the newest of them; null: none waits. */
export const newestRequest = ({ requests = [] }: Alert): Content | null => {
  const newest = requests.at(-1);
  if (newest === undefined) return null;
  return requests.length === 1 ? newest : { ...newest, title: `${newest.title} (${requests.length} requests wait)` };
};

/** With what the requests ask. A permission that is not given before its deadline may still be asked in the agent's own terminal. */
export const withAsked = (state: Alert, input: Input): Alert => {
  if (input.type !== 'NOTIFY' || input.payload.route !== WAIT_ROUTE) return state;
  const asked = askedAfter(state.asked ?? [], input.payload, input.occurredAt);
  if (asked.length > 0) return asked === state.asked ? state : { ...state, asked };
  const { asked: _, ...rest } = state;
  return state.asked === undefined ? state : rest;
};

const askedAfter = (
  known: readonly Asked[],
  { action, requestId, askedText, isExpired }: Notice,
  at: number,
): readonly Asked[] => {
  // The end of a wait: its agent asks nothing any more.
  if (requestId === null) return action === 'resolve' ? known.filter(({ expiredAt }) => expiredAt === null) : known;
  const others = known.filter((one) => one.requestId !== requestId);
  switch (action) {
    case 'raise':
      return askedText === null ? known : [...others, { requestId, text: askedText, expiredAt: null }].slice(-MOST - 1);
    case 'settle':
    case 'resolve': {
      const over = known.find((one) => one.requestId === requestId);
      if (!isExpired || over === undefined) return others;
      return [{ ...over, expiredAt: at }, ...others.filter(({ expiredAt }) => expiredAt === null)];
    }
    case 'dismiss':
    case 'inhibit':
    case 'release':
    case 'hold':
    case 'unhold':
    case 'UNKNOWN':
      return known;
  }
};

/**
 * The text of a notice with all that is asked. A request whose deadline has passed: what it asked. A wait whose client
 * reports the tool alone: a request of the same wait had the command or file. A wait that began after the end of that
 * request is another one.
 */
export const wholeText = (
  { asked = [] }: Alert,
  { askedText, waitSince, text, requestId, isExpired }: Notice,
): string => {
  if (requestId !== null && isExpired) {
    const over = asked.find((one) => one.requestId === requestId);
    return over === undefined ? text : `${text}; it had asked: ${over.text}`;
  }
  if (askedText === null || waitSince === null || !text.endsWith(askedText)) return text;
  const isSame = (one: Asked) => waitSince < (one.expiredAt ?? 0) && one.text.startsWith(`${askedText}: `);
  const whole = asked.find(isSame)?.text;
  return whole === undefined ? text : `${text.slice(0, -askedText.length)}${whole}`;
};
