import type { StreamListener } from './live.ts';

/** What the tab with the stream passes on to the other tabs of its browser. */
export type Report =
  | { readonly kind: 'opened' }
  | { readonly kind: 'changed'; readonly tables: readonly string[] }
  | { readonly kind: 'lost' };

export type SharedDeps = {
  /** opens the stream; returns how it ends */
  readonly open: (on: StreamListener) => () => void;
  /** calls `hold` once no other tab holds the stream; returns how to give it up */
  readonly whileOnly: (hold: () => () => void) => () => void;
  /** the reports of other tabs, until it is closed */
  readonly connect: (receive: (report: Report) => void) => Channel;
};

export type Channel = { readonly post: (report: Report) => void; readonly close: () => void };

const deliver = (on: StreamListener, report: Report): void => {
  switch (report.kind) {
    case 'opened':
      on.opened();
      break;
    case 'changed':
      on.changed(report.tables);
      break;
    case 'lost':
      on.lost();
      break;
  }
};

/**
 * One stream for all tabs of a browser, which has six connections to an address. One tab holds the stream, and passes on
 * what it receives. When that tab closes or is hidden, another one opens the stream again. So no change is lost: each
 * stream begins with a reset, and so does each tab. Returns how this tab ends.
 */
export const shareChanges = (on: StreamListener, { open, whileOnly, connect }: SharedDeps): (() => void) => {
  const channel = connect((report) => deliver(on, report));
  const report = (one: Report): void => {
    deliver(on, one);
    channel.post(one);
  };
  const giveUp = whileOnly(() =>
    open({
      opened: () => report({ kind: 'opened' }),
      changed: (tables) => report({ kind: 'changed', tables }),
      lost: () => report({ kind: 'lost' }),
    }),
  );
  // It may have missed changes before it was connected.
  on.opened();
  return () => {
    giveUp();
    channel.close();
  };
};
