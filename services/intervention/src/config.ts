import { logSettings, whole } from '@vigil/chassis';
import { z } from 'zod';
import { type GovernorSettings, usual } from './governor/settings.ts';

const seconds = (most: number, usually: number) =>
  whole(0, most)
    .transform((value) => value * 1000)
    .default(usually);
const percent = (usually: number) =>
  whole(1, 100)
    .transform((value) => value / 100)
    .default(usually);

/** Variables of the governor: durations in seconds, shares in per cent. */
const governorSettings = {
  VIGIL_GOVERNOR_SETTLE_S: seconds(600, usual.settleMs),
  VIGIL_GOVERNOR_STEPS_PER_MINUTE: whole(1, 10_000).default(usual.stepsPerMinute),
  VIGIL_GOVERNOR_SPAWNS_PER_HOUR: whole(1, 100_000).default(usual.spawnsPerHour),
  VIGIL_GOVERNOR_COOLDOWN_S: seconds(86_400, usual.cooldownMs),
  VIGIL_GOVERNOR_MOST_CAPACITY: whole(1, 100_000).default(usual.mostCapacity),
  VIGIL_GOVERNOR_SCOPE_LABEL: z.string().min(1, 'give the name of a label, or leave it out').optional(),
  VIGIL_GOVERNOR_BRAKE_WINDOW_S: seconds(3600, usual.brake.windowMs),
  VIGIL_GOVERNOR_BRAKE_LEAST: whole(2, 10_000).default(usual.brake.least),
  VIGIL_GOVERNOR_BRAKE_PERCENT: percent(usual.brake.share),
  VIGIL_GOVERNOR_BRAKE_PLACE_PERCENT: percent(usual.brake.placeShare),
  VIGIL_GOVERNOR_BRAKE_MIN_AGE_S: seconds(86_400, usual.brake.minAgeMs),
  VIGIL_GOVERNOR_BRAKE_BACK_S: seconds(86_400, usual.brake.backMs),
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
