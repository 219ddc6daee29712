import type { PlanStep } from '@vigil/events';

/** What a step asks, resolved: durations in milliseconds, templates as texts with {placeholders}. It travels in the warrant as a PlanStep. */
export type Step =
  | { readonly step: 'nudge'; readonly attempts: number; readonly intervalMs: number; readonly message: string }
  | { readonly step: 'interrogate'; readonly waitsMs: readonly number[]; readonly message: string }
  /** the client's turn is interrupted, and the agent gets `message` at its prompt; the next step follows after `waitMs` */
  | { readonly step: 'interrupt'; readonly waitMs: number; readonly message: string }
  /**
   * The client's processes are ended and the same session is started again with `message`; the next step follows after
   * `waitMs`. Skipped where the instance was resumed less than `againAfterMs` ago. `graceMs`: between SIGINT and SIGTERM.
   */
  | {
      readonly step: 'resume';
      readonly waitMs: number;
      readonly graceMs: number;
      readonly againAfterMs: number;
      readonly message: string;
    }
  | {
      readonly step: 'escalate';
      /** null: waits for ever */
      readonly timeoutMs: number | null;
      readonly onTimeout: 'terminate' | 'hold';
      readonly options: readonly string[];
    }
  | { readonly step: 'handoff'; readonly deadlineMs: number; readonly message: string }
  | { readonly step: 'pause'; readonly backoffMs: number; readonly message: string }
  | {
      readonly step: 'terminate';
      readonly graceMs: number;
      readonly cleanupMs: number;
      readonly leave: 'in_progress' | 'released' | 'blocked';
      readonly release: readonly string[];
      /** any of them; empty: no condition. Unmet: the step is skipped and the case goes to people */
      readonly requires: readonly ('hard' | 'two_axes' | 'unanswered')[];
    }
  | { readonly step: 'recover' }
  | { readonly step: 'block'; readonly reason: string }
  | { readonly step: 'alert'; readonly channel: string | null; readonly severity: 'info' | 'warning' | 'critical' };

/** A policy's first matching plan. `name` is its `when`. */
export type Plan = { readonly name: string; readonly steps: readonly Step[] };

/** How often a circuit breaker lets fail in a row, how long its pause is then, and how many trials end it. */
export type BreakerLimits = {
  readonly failureThreshold: number;
  readonly recoveryTimeoutMs: number;
  readonly halfOpenRequests: number;
};

/** How a task is put on a fresh agent; travels in the warrant and in RecoverTask. */
export type RecoverySettings = {
  readonly maxAttempts: number;
  /** before attempts 1, 2, 3 …; the last repeats */
  readonly delaysMs: readonly number[];
  /** how much longer a delay may get, 0.2 = a fifth; from a hash of task and attempt */
  readonly jitter: number;
  readonly spawnDeadlineMs: number;
  readonly probationMs: number;
  readonly stableMs: number;
  /** the longest wait for the reset of a limit: one that is further away may be a mistake of the client */
  readonly limitWaitMs: number;
  readonly onProbationFailure: 'retry' | 'review';
  readonly breaker: BreakerLimits;
  /** write omniclaude's onex.evt.omniclaude.agent-healthcheck.v1 */
  readonly emitHealthcheck: boolean;
};

/** A step of another version of Vigil, which this one cannot take. `name`: as its policy calls it. */
export type UnknownStep = { readonly step: 'UNKNOWN'; readonly name: string };
/** A step as a plan brings it to those who carry it out. */
export type PlannedStep = Step | UnknownStep;

const NO_SETTINGS: Omit<PlanStep, 'step'> = {
  nudge: null,
  interrogate: null,
  interrupt: null,
  resume: null,
  escalate: null,
  handoff: null,
  pause: null,
  terminate: null,
  block: null,
  alert: null,
};

/** A step as it travels: its name, and the settings in the field of that name. */
export const stepRecord = (planned: PlannedStep): PlanStep => {
  switch (planned.step) {
    case 'UNKNOWN':
      return { ...NO_SETTINGS, step: planned.name };
    case 'recover':
      return { ...NO_SETTINGS, step: planned.step };
    case 'nudge':
    case 'interrogate':
    case 'interrupt':
    case 'resume':
    case 'escalate':
    case 'handoff':
    case 'pause':
    case 'terminate':
    case 'block':
    case 'alert': {
      const { step, ...settings } = planned;
      return { ...NO_SETTINGS, step, [step]: settings };
    }
  }
};

type Readers = { readonly [Name in Step['step']]: (record: PlanStep) => Extract<Step, { readonly step: Name }> | null };

/** Null: the settings are missing, or one of them has a value of a newer version. */
const READERS: Readers = {
  nudge: ({ nudge }) => nudge && { step: 'nudge', ...nudge },
  interrogate: ({ interrogate }) => interrogate && { step: 'interrogate', ...interrogate },
  interrupt: ({ interrupt }) => interrupt && { step: 'interrupt', ...interrupt },
  resume: ({ resume }) => resume && { step: 'resume', ...resume },
  handoff: ({ handoff }) => handoff && { step: 'handoff', ...handoff },
  pause: ({ pause }) => pause && { step: 'pause', ...pause },
  recover: () => ({ step: 'recover' }),
  block: ({ block }) => block && { step: 'block', ...block },
  alert: ({ alert }) => {
    if (alert === null) return null;
    const { channel, severity } = alert;
    return severity === 'UNKNOWN' ? null : { step: 'alert', channel, severity };
  },
  escalate: ({ escalate }) => {
    if (escalate === null) return null;
    const { timeoutMs, onTimeout, options } = escalate;
    return onTimeout === 'UNKNOWN' ? null : { step: 'escalate', timeoutMs, onTimeout, options };
  },
  terminate: ({ terminate }) => {
    if (terminate === null) return null;
    const { graceMs, cleanupMs, leave, release, requires } = terminate;
    const known = requires.flatMap((one) => (one === 'UNKNOWN' ? [] : [one]));
    if (leave === 'UNKNOWN' || known.length < requires.length) return null;
    return { step: 'terminate', graceMs, cleanupMs, leave, release, requires: known };
  },
};

const isKnown = (name: string): name is Step['step'] => Object.hasOwn(READERS, name);

/** The step that a record carries. One that this version does not know, or not with these settings, is unknown: it is never carried out in part. */
export const stepOf = (record: PlanStep): PlannedStep =>
  (isKnown(record.step) ? READERS[record.step](record) : null) ?? { step: 'UNKNOWN', name: record.step };
