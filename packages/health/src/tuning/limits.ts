import { brief, type CompiledPolicy, type JudgedState, type Together, type Use } from '@vigil/policy';
import { SIGNALS, type SignalName } from '../signals/all.ts';

/** The unit of a limit: milliseconds, a whole number, or a share from 0 to 1. */
export type Unit = 'duration' | 'count' | 'share';

/**
 * A limit of a policy's signal that is tuned. `use`: its position in the policy; `path`: in the signal's settings;
 * `state`: the worst state that the signal makes. A larger value makes it fire later.
 */
export type Limit = {
  readonly use: number;
  readonly name: string;
  readonly path: readonly string[];
  readonly state: JudgedState;
  readonly value: number;
  readonly unit: Unit;
  /** whether it limits an absence, which ends when the agent continues by itself */
  readonly isAbsence: boolean;
};

/** Settings that are limits of this direction. A window, such as `within`, has the other one. */
const DURATIONS: readonly string[] = ['after', 'polling_after'];
const COUNTS: readonly string[] = ['times', 'cycles', 'masked_times', 'masked_cycles', 'stale_times', 'rotation_times'];
const BOUNDS: readonly string[] = ['above', 'at'];
const BY_KIND = 'default_deadline';

const WORST_FIRST: readonly JudgedState[] = ['FAILING', 'STUCK', 'DEGRADED'];

const settingsOf = ({ limits }: Use): Readonly<Record<string, unknown>> => limits as Readonly<Record<string, unknown>>;

const worstOf = (policy: CompiledPolicy, use: number): JudgedState | null =>
  WORST_FIRST.find((state) =>
    policy.states.some((one) => one.state === state && one.anyOf.some((together) => together.includes(use))),
  ) ?? null;

const unitOf = (signal: string, setting: string, value: number): Unit | null => {
  // Of a rate limit it is how long the signal lasts.
  if (setting === 'for' && signal === 'token_burn') return 'duration';
  if (DURATIONS.includes(setting)) return 'duration';
  if (COUNTS.includes(setting)) return 'count';
  if (!BOUNDS.includes(setting)) return null;
  return value <= 1 ? 'share' : 'count';
};

/** The limits of a policy's signals, in the order of the policy. Signals that make no state have none. */
export const limitsOf = (policy: CompiledPolicy): readonly Limit[] =>
  policy.uses.flatMap((one, use) => {
    const state = worstOf(policy, use);
    if (state === null) return [];
    const isAbsence = SIGNALS[one.signal as SignalName].axis === 'absence';
    const about = { use, name: one.name, state, isAbsence };
    return Object.entries(settingsOf(one)).flatMap(([setting, value]): Limit[] => {
      if (setting === BY_KIND)
        return Object.entries(value as Readonly<Record<string, number>>).map(([kind, ms]) => ({
          ...about,
          path: [setting, kind],
          value: ms,
          unit: 'duration',
        }));
      const unit = typeof value === 'number' && Number.isFinite(value) ? unitOf(one.signal, setting, value) : null;
      return unit === null ? [] : [{ ...about, path: [setting], value: value as number, unit }];
    });
  });

/** `no_calls.after` */
export const limitName = ({ name, path }: Pick<Limit, 'name' | 'path'>): string => [name, ...path].join('.');

const withSetting = (settings: Readonly<Record<string, unknown>>, path: readonly string[], value: unknown): object => {
  const [first = '', ...rest] = path;
  if (rest.length === 0) return { ...settings, [first]: value };
  return { ...settings, [first]: withSetting((settings[first] ?? {}) as typeof settings, rest, value) };
};

/** The policy with another value of a limit, for judging only: its document is unchanged. */
export const withLimit = (policy: CompiledPolicy, { use, path }: Limit, value: number): CompiledPolicy => ({
  ...policy,
  uses: policy.uses.map((one, i) => (i === use ? { ...one, limits: withSetting(settingsOf(one), path, value) } : one)),
});

/** The policy in which only this signal makes a state, together with the others that its state demands. */
export const alone = (policy: CompiledPolicy, { use, state }: Limit): CompiledPolicy => {
  const anyOf = policy.states
    .filter((one) => one.state === state)
    .flatMap((one) => one.anyOf.filter((together: Together) => together.includes(use)));
  return { ...policy, states: [{ state: 'STUCK', anyOf }] };
};

const SECONDS = [
  15, 30, 45, 60, 90, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600, 5400, 7200, 14_400,
];
const SHARES = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95];
const FACTORS = [0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4];
/** The largest factor by which a duration is multiplied or divided. */
const REACH = 16;
const LEAST_COUNT = 2;

/** The values that are tried, from the smallest on; the present one is among them. */
export const ladderOf = ({ unit, value }: Limit): readonly number[] => {
  const sorted = (values: readonly number[]) => [...new Set([...values, value])].toSorted((a, b) => a - b);
  switch (unit) {
    case 'duration':
      return sorted(SECONDS.map((s) => s * 1000).filter((ms) => ms >= value / REACH && ms <= value * REACH));
    case 'share':
      return sorted(SHARES);
    case 'count':
      return sorted(FACTORS.map((factor) => Math.max(LEAST_COUNT, Math.round(value * factor))));
  }
};

/** A change of a limit. */
export type Change = { readonly limit: Limit; readonly to: number };

/**
 * The policy's document with other limits. A default deadline of the exemption call_in_flight that was equal is changed,
 * too, because it excuses the same calls. `document`: as written.
 */
export const changedDocument = (document: string, changes: readonly Change[]): Readonly<Record<string, unknown>> =>
  changes.reduce<Readonly<Record<string, unknown>>>(
    (written, { limit, to }) => {
      const value = limit.unit === 'duration' ? brief(to) : to;
      const changed = withSetting(written, ['signals', limit.name, ...limit.path], value) as typeof written;
      const excused = ['exemptions', 'call_in_flight', ...limit.path];
      const isShared = limit.path[0] === BY_KIND && isEqual(valueAt(written, excused), limit.value);
      return isShared ? (withSetting(changed, excused, value) as typeof written) : changed;
    },
    JSON.parse(document) as Readonly<Record<string, unknown>>,
  );

const isEqual = (written: unknown, ms: number): boolean => written === brief(ms);

const valueAt = (tree: unknown, [first, ...rest]: readonly string[]): unknown =>
  first === undefined ? tree : valueAt((tree as Readonly<Record<string, unknown>> | undefined)?.[first], rest);
