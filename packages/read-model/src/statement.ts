import type { FactTable, facts, Group, RegisterTable, registers } from './tables/tables.ts';

/** Any JSON value; times as RFC 3339 texts (`instant`). */
export type Value = string | number | boolean | null | object;

type Named<Names extends readonly string[]> = { readonly [K in Names[number]]: Value };

/** A row for a fact. A second one with the same key changes nothing. */
export type Fact = {
  [T in FactTable]: {
    readonly kind: 'fact';
    readonly table: T;
    readonly key: Named<(typeof facts)[T]['key']>;
    readonly columns: Named<(typeof facts)[T]['columns']>;
  };
}[FactTable];

type RegisterOf<T extends RegisterTable> = {
  [G in Group<T>]: {
    readonly kind: 'register';
    readonly table: T;
    readonly key: Named<(typeof registers)[T]['key']>;
    readonly group: G;
    /** see `orderOf`: the group keeps what has the greatest */
    readonly order: string;
    readonly columns: Named<
      Extract<(typeof registers)[T]['groups'][G & keyof (typeof registers)[T]['groups']], readonly string[]>
    >;
  };
}[Group<T>];

/** A column group of a row, whole. One with an order not above the one it holds changes nothing. */
export type Register = { [T in RegisterTable]: RegisterOf<T> }[RegisterTable];

export type Statement = Fact | Register;

const MAX_INSTANT = 253_402_300_799_999; // the end of the year 9999: later ones Postgres does not read as RFC 3339

/**
 * Epoch milliseconds as Postgres reads them. An instant outside the calendar is unknown: agents may report any number.
 */
export function instant(ms: number | null): string | null {
  if (ms === null || !(ms >= 0 && ms <= MAX_INSTANT)) return null;
  return new Date(ms).toISOString();
}

type Ordered = {
  readonly version: number | null;
  readonly epoch: number | null;
  /** the offset of its record in the one partition of its key */
  readonly offset: number;
};

const padded = (n: number, width: number): string => String(n).padStart(width, '0');

/**
 * The place of an event among those of the same state key, as a text that sorts bytewise. It is epoch and version where
 * a decider wrote it; else its offset, for no clock is the same on all brokers or gateways.
 */
export function orderOf(event: Ordered): string {
  if (event.version !== null) return `${padded(event.epoch ?? 0, 16)}.${padded(event.version, 16)}`;
  return `@${padded(event.offset, 16)}`;
}
