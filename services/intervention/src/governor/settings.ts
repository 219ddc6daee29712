/** What the governor is set to; durations in milliseconds. */
export type GovernorSettings = {
  /** between the request for a destructive step and its ruling, so that the first deaths of a mass failure are not admitted */
  readonly settleMs: number;
  /** destructive steps a minute, a scope */
  readonly stepsPerMinute: number;
  /** spawns an hour, a scope */
  readonly spawnsPerHour: number;
  /** between two destructive steps on one agent */
  readonly cooldownMs: number;
  /** a runtime that announces a larger capacity counts with this one */
  readonly mostCapacity: number;
  /** the label whose value is the scope of a budget; null: the whole fleet is one */
  readonly scopeLabel: string | null;
  readonly brake: {
    /** losses within this count together */
    readonly windowMs: number;
    /** fewer losses never engage it */
    readonly least: number;
    /** of the live: 0.05 is one in twenty */
    readonly share: number;
    /** of one host or runtime */
    readonly placeShare: number;
    /** an agent observed for a shorter time never counts as lost */
    readonly minAgeMs: number;
    /** how long over half of the lost agents must send heartbeats again */
    readonly backMs: number;
  };
};

/** The usual figures. */
export const usual: GovernorSettings = {
  settleMs: 5_000,
  stepsPerMinute: 10,
  spawnsPerHour: 5,
  cooldownMs: 300_000,
  mostCapacity: 200,
  scopeLabel: null,
  brake: { windowMs: 30_000, least: 3, share: 0.05, placeShare: 0.5, minAgeMs: 300_000, backMs: 60_000 },
};

/** How long a ruling may be used, milliseconds. */
export const VALID_MS = 30_000;
/** A runtime that has not announced itself for longer gets no spawn, milliseconds. */
export const FRESH_MS = 90_000;
/** An admitted spawn takes a runtime's place for so long, until the runtime lists its agent, milliseconds. */
export const SPAWN_MS = 120_000;
/** How long the brake waits for the task of a crashed agent, milliseconds: the usual attempts at a recovery take no longer. */
export const CRASH_WAIT_MS = 900_000;
/**
 * The size of all runtimes in the governor's state, in bytes of JSON. The state is one record, and a broker accepts
 * one of 1 MiB.
 */
export const MOST_RUNTIMES_BYTES = 250_000;
/** The hosts and runtimes there with the counts of their agents, in bytes of JSON: some 5,000 of each. */
export const MOST_PLACES_BYTES = 200_000;
/** The steps there that wait, in bytes of JSON: some 500. */
export const MOST_QUEUE_BYTES = 150_000;
/** The lost agents there by name, in bytes of JSON: some 800. Others are counted by place only. */
export const MOST_LOSSES_BYTES = 100_000;
/** The agents there that the brake awaits, in bytes of JSON. Those of hosts and runtimes have half of it. */
export const MOST_AWAITED_BYTES = 160_000;
/** What an awaited agent has more than its loss, in bytes of JSON. */
export const AWAITED_BYTES = 50;
/** The admissions there that count against a budget or a cooldown, in bytes of JSON: some 700. */
export const MOST_ADMITTED_BYTES = 150_000;
/** The latest starts there, in bytes of JSON: some 500. */
export const MOST_STARTS_BYTES = 60_000;
/** Places and seconds there for which losses are only counted. Above that they count for the fleet alone. */
export const MOST_COUNTED_PLACES = 100;
/** The size of the spawns there that wait for a template, in bytes of JSON. */
export const MOST_WAITING_BYTES = 100_000;
/** The longest host or scope, in bytes of JSON: a label may be much longer, and a DNS name may not. */
export const LONGEST_PLACE = 253;
/** The size of one runtime there: its labels and templates are as long as its host's file makes them. */
export const MOST_RUNTIME_BYTES = 10_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
