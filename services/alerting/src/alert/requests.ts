import type { Alert } from './alert-state.ts';
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
