import { expect, test } from 'vitest';
import type { StreamListener } from './live.ts';
import { type Report, shareChanges } from './shared.ts';

/** A browser with one lock and one channel, and a dashboard whose streams a test writes to. */
const browser = () => {
  const receivers = new Set<(report: Report) => void>();
  const waiting: { hold: () => () => void; end: (() => void) | null }[] = [];
  const streams = new Set<StreamListener>();
  let holder: (typeof waiting)[number] | null = null;
  const next = (): void => {
    if (holder !== null) return;
    holder = waiting.shift() ?? null;
    if (holder !== null) holder.end = holder.hold();
  };
  const openTab = () => {
    const seen: string[] = [];
    const listener: StreamListener = {
      opened: () => seen.push('opened'),
      changed: (tables) => seen.push(tables.join()),
      lost: () => seen.push('lost'),
    };
    const close = shareChanges(listener, {
      open: (on) => {
        streams.add(on);
        return () => streams.delete(on);
      },
      whileOnly: (hold) => {
        const one: (typeof waiting)[number] = { hold, end: null };
        waiting.push(one);
        next();
        return () => {
          if (holder !== one) return void waiting.splice(waiting.indexOf(one), 1);
          one.end?.();
          holder = null;
          next();
        };
      },
      connect: (receive) => {
        receivers.add(receive);
        return {
          post: (report) => {
            for (const other of receivers) if (other !== receive) other(report);
          },
          close: () => receivers.delete(receive),
        };
      },
    });
    return { seen, close };
  };
  const stream = (): StreamListener => {
    const [one] = streams;
    if (one === undefined) throw new Error('no tab has opened the stream');
    return one;
  };
  return { openTab, stream, streams, receivers };
};

test('all tabs of a browser have one stream, and each change reaches each of them once', () => {
  const { openTab, stream, streams } = browser();
  const tabs = Array.from({ length: 9 }, openTab);
  expect(streams.size).toBe(1);
  stream().opened();
  stream().changed(['agents', 'cases']);
  stream().lost();
  for (const { seen } of tabs) expect(seen).toEqual(['opened', 'opened', 'agents,cases', 'lost']);
});

test('a tab that opens later asks for everything at once, because earlier changes did not reach it', () => {
  const { openTab, stream } = browser();
  openTab();
  stream().changed(['agents']);
  expect(openTab().seen).toEqual(['opened']);
});

test('when the tab with the stream closes, another one opens it, and its reset reaches the others', () => {
  const { openTab, stream, streams, receivers } = browser();
  const [first, second, third] = [openTab(), openTab(), openTab()];
  second.close();
  first.close();
  expect([streams.size, receivers.size]).toEqual([1, 1]);
  stream().opened();
  expect(third.seen).toEqual(['opened', 'opened']);
  expect([first.seen, second.seen]).toEqual([['opened'], ['opened']]);
  third.close();
  expect([streams.size, receivers.size]).toEqual([0, 0]);
});
