import { logSettings, whole } from '@vigil/chassis';
import { z } from 'zod';
import { type GovernorSettings, usual } from './governor/settings.ts';

/** `usually`: milliseconds, as the value has them */
const seconds = (most: number, usually: number) =>
  whole(0, most)
    .transform((value) => value * 1000)
    .prefault(String(usually / 1000))
    .meta({ unit: 'seconds' });
/** `usually`: a share, as the value is one */
const percent = (usually: number) =>
  whole(1, 100)
    .transform((value) => value / 100)
    .prefault(String(Math.round(usually * 100)))
    .meta({ unit: 'per cent' });

/** Variables of the governor: durations in seconds, shares in per cent. */
const governorSettings = {
  VIGIL_GOVERNOR_SETTLE_S: seconds(600, usual.settleMs).meta({
    description: 'From a request for a destructive step to its ruling.',
  }),
  VIGIL_GOVERNOR_STEPS_PER_MINUTE: whole(1, 10_000)
    .default(usual.stepsPerMinute)
    .meta({ unit: 'steps a minute', description: 'The budget of destructive steps of a scope.' }),
  VIGIL_GOVERNOR_SPAWNS_PER_HOUR: whole(1, 100_000)
    .default(usual.spawnsPerHour)
    .meta({ unit: 'spawns an hour', description: 'The budget of spawns of a scope.' }),
  VIGIL_GOVERNOR_COOLDOWN_S: seconds(86_400, usual.cooldownMs).meta({
    description: 'The least time between two destructive steps on one agent.',
  }),
  VIGIL_GOVERNOR_MOST_CAPACITY: whole(1, 100_000)
    .default(usual.mostCapacity)
    .meta({ unit: 'agents', description: 'The largest capacity that a runtime counts with.' }),
  VIGIL_GOVERNOR_SCOPE_LABEL: z
    .string()
    .min(1, 'give the name of a label, or leave it out')
    .optional()
    .meta({ description: 'The label whose value is the scope of a budget; without it the fleet is one scope.' }),
  VIGIL_GOVERNOR_BRAKE_WINDOW_S: seconds(3600, usual.brake.windowMs).meta({
    description: 'Losses of agents within this time count together.',
  }),
  VIGIL_GOVERNOR_BRAKE_LEAST: whole(2, 10_000)
    .default(usual.brake.least)
    .meta({ unit: 'agents', description: 'Fewer losses never engage the brake.' }),
  VIGIL_GOVERNOR_BRAKE_PERCENT: percent(usual.brake.share).meta({
    description: 'The share of the fleet whose loss engages the brake.',
  }),
  VIGIL_GOVERNOR_BRAKE_PLACE_PERCENT: percent(usual.brake.placeShare).meta({
    description: 'The share of one host or runtime whose loss engages the brake.',
  }),
  VIGIL_GOVERNOR_BRAKE_MIN_AGE_S: seconds(86_400, usual.brake.minAgeMs).meta({
    description: 'An agent that was observed for a shorter time never counts as lost.',
  }),
  VIGIL_GOVERNOR_BRAKE_BACK_S: seconds(86_400, usual.brake.backMs).meta({
    description: 'How long more than half of the lost agents must send heartbeats again before the brake releases.',
  }),
};

const variables = logSettings(governorSettings);

const governorOf = (env: z.output<typeof variables>): GovernorSettings => ({
  settleMs: env.VIGIL_GOVERNOR_SETTLE_S,
  stepsPerMinute: env.VIGIL_GOVERNOR_STEPS_PER_MINUTE,
  spawnsPerHour: env.VIGIL_GOVERNOR_SPAWNS_PER_HOUR,
  cooldownMs: env.VIGIL_GOVERNOR_COOLDOWN_S,
  mostCapacity: env.VIGIL_GOVERNOR_MOST_CAPACITY,
  scopeLabel: env.VIGIL_GOVERNOR_SCOPE_LABEL ?? null,
  brake: {
    windowMs: env.VIGIL_GOVERNOR_BRAKE_WINDOW_S,
    least: env.VIGIL_GOVERNOR_BRAKE_LEAST,
    share: env.VIGIL_GOVERNOR_BRAKE_PERCENT,
    placeShare: env.VIGIL_GOVERNOR_BRAKE_PLACE_PERCENT,
    minAgeMs: env.VIGIL_GOVERNOR_BRAKE_MIN_AGE_S,
    backMs: env.VIGIL_GOVERNOR_BRAKE_BACK_S,
  },
});

/** Where the log is, and what the governor is set to. */
export const config = variables.transform((env) => ({ ...env, governor: governorOf(env) }));
