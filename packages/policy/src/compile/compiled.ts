import type { z } from 'zod';
import type { BreakerLimits, Plan, RecoverySettings } from '../document/plan.ts';
import type { Spending } from '../document/spending.ts';

/**
 * The kind of a signal's evidence: something did not come, the same came again, a share of failures, tokens or money, or
 * a reported fact. Exemptions suspend whole axes.
 */
export type Axis = 'absence' | 'repetition' | 'rate' | 'cost' | 'fact';
/** The states that a policy describes; HEALTHY is not one of them, TERMINATED is the reported end. */
export type JudgedState = 'FAILING' | 'STUCK' | 'DEGRADED';

/**
 * The names that a policy may use, with their settings. packages/health provides it, so that it contains every new
 * signal.
 */
export type Vocabulary = {
  /** `notSuspendedBy`: exemptions that do not suspend it, although they suspend its axis */
  readonly signals: Readonly<
    Record<
      string,
      {
        readonly axis: Axis;
        readonly limits: z.ZodType;
        readonly notSuspendedBy?: (limits: never) => readonly string[];
      }
    >
  >;
  readonly exemptions: Readonly<Record<string, { readonly limits: z.ZodType; readonly suspends?: readonly Axis[] }>>;
};

/** A signal under the name and with the limits of one policy. */
export type Use = {
  readonly name: string;
  readonly signal: string;
  readonly limits: unknown;
  /** positions in `uses` of counter-evidence; this signal does not fire while any of them does */
  readonly unless: readonly number[];
};
/** Positions in `uses` that must fire together. */
export type Together = readonly number[];
export type Term =
  | { readonly kind: 'use'; readonly use: number }
  | { readonly kind: 'state'; readonly state: JudgedState }
  | { readonly kind: 'exemption'; readonly exemption: string };
/** `anyOf`: alternatives, each a list of terms that hold together. */
export type CompiledPlan = Plan & { readonly anyOf: readonly (readonly Term[])[] };

export const BREAKER_NAMES = ['tool_execution', 'checkpoint_write', 'external_api', 'recovery_attempt'] as const;
/** The breakers of an agent (CODITECT `ADR-110`, section 5). */
export type BreakerName = (typeof BREAKER_NAMES)[number];

/** hive's figure: progress or a timeout that is older excuses no ticket. */
const RECENT_MS = 240_000;
/** Until when progress or a timeout of this time excuses an agent: triage dismisses a ticket that is filed before. */
export const excusesUntil = (at: number): number => at + RECENT_MS;

export type TicketSeverity = 'low' | 'medium' | 'high' | 'critical';
/** A ticket is due from `at` steps without an ACCEPT on. `needsLoop`: only during a loop. */
export type Band = { readonly at: number; readonly severity: TicketSeverity; readonly needsLoop: boolean };
export type Ticketing = {
  /** ascending by `at` */
  readonly bands: readonly Band[];
  /** no step for this long (inclusive) is critical; null: never */
  readonly stallMs: number | null;
  /** no ticket in an instance's first … */
  readonly graceMs: number;
};

/** A policy ready to judge with: plain values, durations in milliseconds. */
export type CompiledPolicy = {
  readonly name: string;
  readonly hash: string;
  /** canonical JSON of the written document; it is published and hashed, and compiles to the same policy */
  readonly document: string;
  readonly enabled: boolean;
  /** RE2 over the agent's id: shown, never judged */
  readonly exclude: readonly string[];
  /** `trustedForMs`: how long a runtime's last report excuses its silence */
  readonly heartbeat: { readonly intervalMs: number; readonly lostAfterMs: number; readonly trustedForMs: number };
  readonly clockToleranceMs: number;
  readonly uses: readonly Use[];
  /** worst first */
  readonly states: readonly { readonly state: JudgedState; readonly anyOf: readonly Together[] }[];
  /** the enabled exemptions, with their limits */
  readonly exemptions: readonly { readonly name: string; readonly limits: unknown }[];
  readonly warrant: {
    readonly label: string;
    readonly requester: string;
    readonly renewMs: number;
    readonly voidMs: number;
  };
  readonly plans: readonly CompiledPlan[];
  readonly breakers: Readonly<Record<BreakerName, BreakerLimits>>;
  /** null: no tickets */
  readonly ticket: Ticketing | null;
  /** where runtimes write dispatch logs, recovery files and friction events; null: nowhere */
  readonly files: {
    readonly dispatchLog: string | null;
    readonly recovery: string | null;
    readonly partialState: string | null;
    readonly friction: string | null;
  };
  /** null: no limit */
  readonly spending: Spending | null;
  readonly recovery: RecoverySettings;
  /** by route; false: it is turned off */
  readonly alerts: Readonly<
    Record<string, false | { readonly severity: 'info' | 'warning' | 'critical'; readonly channels: readonly string[] }>
  >;
  /** warnings about probable mistakes */
  readonly warnings: readonly string[];
};
