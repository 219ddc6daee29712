import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Logger } from '../clock.ts';
import type { Order, Report } from '../orders/order.ts';
import type { Pid } from '../process/proc.ts';

/**
 * `begun` is on the disk before an order has any effect; `done` after, with the receipt that answers every repetition; `sent` when the
 * gateway has that receipt.
 */
export type Entry =
  | {
      readonly kind: 'begun';
      readonly orderId: string;
      readonly order: Order;
      /** the process that it is done to; null: a spawn */
      readonly pid: Pid | null;
    }
  | { readonly kind: 'done'; readonly orderId: string; readonly report: Report }
  | { readonly kind: 'sent'; readonly orderId: string };
export type Begun = Extract<Entry, { readonly kind: 'begun' }>;

export type Journal = {
  /**
   * @throws where the disk does not take a `begun`: then the order must have no effect. Another entry that it does not take is kept in
   * memory, and written before the next one.
   */
  readonly write: (entry: Entry) => void;
  /** the report that answers this order; undefined: it is not done */
  readonly reportOf: (orderId: string) => Report | undefined;
  /** begun by an earlier supervisor and never done, oldest first */
  readonly unfinished: readonly Begun[];
  /** done by an earlier supervisor that died before the gateway had the receipt, oldest first */
  readonly unsent: readonly Report[];
  readonly close: () => void;
};

/** How many done orders are remembered over a restart: far more than are offered within their time to live. */
const KEPT = 1000;

/** A last line without its end is torn: its writer died before the order had any effect. Any other unreadable line is a fault to report. */
const parse = (path: string, text: string, logger: Logger): Entry[] => {
  const lines = text.split('\n');
  return lines.flatMap((line, index) => {
    try {
      return line === '' ? [] : [JSON.parse(line) as Entry];
    } catch (error) {
      if (index < lines.length - 1)
        logger('the order journal has an unreadable line, which is ignored', {
          path,
          line: index + 1,
          error: String(error),
        });
      return [];
    }
  });
};

const read = (path: string, logger: Logger): Entry[] => {
  try {
    return parse(path, readFileSync(path, 'utf8'), logger);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
};

const append = (file: number, text: string): void => {
  writeSync(file, text);
  fsyncSync(file);
};

const fsyncFolder = (path: string): void => {
  const folder = openSync(path, 'r');
  fsyncSync(folder);
  closeSync(folder);
};

/** Opens the journal with the entries that are still needed, rewritten so that it does not grow forever. */
const rewrite = (path: string, entries: readonly Entry[]): number => {
  const file = openSync(`${path}.new`, 'w');
  for (const entry of entries) writeSync(file, `${JSON.stringify(entry)}\n`);
  fsyncSync(file);
  renameSync(`${path}.new`, path);
  fsyncFolder(dirname(path));
  return file;
};

/** One supervisor's journal: JSON Lines, each flushed to the disk before the call returns. `put` writes a text, and throws when it cannot. */
export const openJournal = (
  path: string,
  logger: Logger,
  put: (file: number, text: string) => void = append,
): Journal => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const entries = read(path, logger);
  const done = new Map(entries.flatMap((entry) => (entry.kind === 'done' ? [[entry.orderId, entry] as const] : [])));
  const unfinished = entries.filter((entry) => entry.kind === 'begun').filter(({ orderId }) => !done.has(orderId));
  const sent = new Map(entries.flatMap((entry) => (entry.kind === 'sent' ? [[entry.orderId, entry] as const] : [])));
  const remembered = [...done.values()].slice(-KEPT);
  const unsent = remembered.filter(({ orderId }) => !sent.has(orderId)).map(({ report }) => report);
  const sentOf = remembered.flatMap(({ orderId }) => sent.get(orderId) ?? []);
  const file = rewrite(path, [...remembered, ...sentOf, ...unfinished]);
  const unwritten: Entry[] = [];
  let isTorn = false;
  let isClosed = false;
  const write = (entry: Entry) => {
    // A failed write may have left half a line.
    const text = `${isTorn ? '\n' : ''}${JSON.stringify(entry)}\n`;
    isTorn = true;
    put(file, text);
    isTorn = false;
  };
  const writeAll = () => {
    for (let next = unwritten[0]; next; next = unwritten[0]) {
      write(next);
      unwritten.shift();
    }
  };
  return {
    write: (entry) => {
      if (isClosed) return;
      if (entry.kind === 'begun') {
        writeAll();
        write(entry);
        return;
      }
      if (entry.kind === 'done') done.set(entry.orderId, entry);
      unwritten.push(entry);
      try {
        writeAll();
      } catch {
        // The order has had its effect: its receipt must not be lost with the disk's room.
      }
    },
    reportOf: (orderId) => done.get(orderId)?.report,
    unfinished,
    unsent,
    close: () => {
      isClosed = true;
      closeSync(file);
    },
  };
};
