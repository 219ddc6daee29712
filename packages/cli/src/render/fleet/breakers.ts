import type { BreakerRow } from '@vigil/read-model';
import { nextAttemptOf } from '../describe.ts';
import { clockTime, orDash, table, type View } from '../view.ts';

/** `worker-1 external_api`, as `vigil breaker reset` takes it. */
const idOf = ({ agentId, taskId, name }: BreakerRow): string => `${orDash(agentId ?? taskId)} ${name}`;

const nextAttemptText = (view: View, breaker: BreakerRow): string => {
  const at = nextAttemptOf(breaker, view.now);
  if (at === null) return '-';
  return at <= view.now ? 'now' : clockTime(view, at);
};

export const breakersTable = (view: View, breakers: readonly BreakerRow[]): string[] =>
  table<BreakerRow>(
    view,
    [
      { title: 'BREAKER', of: idOf },
      {
        title: 'STATE',
        of: ({ state }) => state,
        paint: (text) => (text === 'OPEN' ? view.paint.red(text) : text === 'CLOSED' ? view.paint.dim(text) : text),
      },
      { title: 'SINCE', of: ({ since }) => clockTime(view, since) },
      { title: 'FAILURES', of: ({ failures }) => String(failures) },
      {
        title: 'NEXT ATTEMPT',
        of: (breaker) => nextAttemptText(view, breaker),
      },
      { title: 'OPENED IN 24 H', of: ({ trips }) => String(trips) },
      { title: 'TASK', of: ({ taskId }) => orDash(taskId), rest: true },
    ],
    breakers,
    'No breaker has opened.',
  );
