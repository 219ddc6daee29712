import type { PlanStep, RecoverySettings as TravellingSettings } from '@vigil/events';

/** The values that this version supports; UNKNOWN is a value of a newer version. */
type Known<T> = T extends readonly (infer One)[] ? readonly Exclude<One, 'UNKNOWN'>[] : Exclude<T, 'UNKNOWN'>;
type Settings = { readonly [Name in Exclude<keyof PlanStep, 'step'>]: NonNullable<PlanStep[Name]> };
type WithSettings<Name extends keyof Settings> = { readonly step: Name } & {
  readonly [Field in keyof Settings[Name]]: Known<Settings[Name][Field]>;
};

/**
 * A step with resolved settings: durations in milliseconds, templates as texts with {placeholders}. It is encoded in
 * the warrant as a PlanStep, whose schema describes the settings.
 * `interrupt`: the client's turn is interrupted, and the agent gets `message` at its prompt. `resume`: the client's
 * processes are ended, and the same session is started again with `message`; it is skipped if the instance was resumed
 * less than `againAfterMs` ago. `terminate`: if none of `requires` is met, the step is skipped and the case goes to
 * people.
 */
export type Step = { readonly step: 'recover' } | { [Name in keyof Settings]: WithSettings<Name> }[keyof Settings];

/** A policy's first matching plan. `name` is its `when`. */
export type Plan = { readonly name: string; readonly steps: readonly Step[] };

export type { BreakerLimits } from '@vigil/events';

/** How a task is moved to a fresh agent. It is part of the warrant and of RecoverTask. */
export type RecoverySettings = Omit<TravellingSettings, 'onProbationFailure' | 'resetAttempts'> & {
  readonly onProbationFailure: Known<TravellingSettings['onProbationFailure']>;
  readonly resetAttempts: Known<TravellingSettings['resetAttempts']>;
};

/** A step that this version of Vigil does not support. `name`: its name in the policy. */
export type UnknownStep = { readonly step: 'UNKNOWN'; readonly name: string };
/** A step of a plan, as the executing services get it. */
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

/** A step as a record: its name, and the settings in the field of that name. */
export const stepRecord = (planned: PlannedStep): PlanStep => {
  if (planned.step === 'UNKNOWN') return { ...NO_SETTINGS, step: planned.name };
  const { step, ...settings } = planned;
  return step === 'recover' ? { ...NO_SETTINGS, step } : { ...NO_SETTINGS, step, [step]: settings };
};

type Readers = { readonly [Name in Step['step']]: (record: PlanStep) => Extract<Step, { readonly step: Name }> | null };

/** Returns null if the settings are missing, or have a value of a newer version. */
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

/**
 * The step of a record. A step that this version does not support, or not with these settings, is unknown. It is never
 * executed in part.
 */
export const stepOf = (record: PlanStep): PlannedStep =>
  (isKnown(record.step) ? READERS[record.step](record) : null) ?? { step: 'UNKNOWN', name: record.step };
