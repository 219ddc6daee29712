import { httpUrl, logSettings, probeSettings, whole } from '@vigil/chassis';
import { linkKey } from '@vigil/chassis/decision-link';
import { z } from 'zod';
import type { Settings } from './alert/messages.ts';
import type { Routing } from './alert/routing.ts';
import type { GroupSettings } from './groups/groups.ts';

/** Variables of the service. */
export const config = logSettings({
  VIGIL_ALERTS_FILE: z.string('give the file that names channels, or leave it out').optional().meta({
    values: 'file',
    description: 'Defines the channels of alerts; without it only the console is notified.',
  }),
  VIGIL_DASHBOARD_URL: httpUrl('give the address at which others reach the dashboard')
    .default('http://127.0.0.1:7420')
    .meta({
      description: 'The dashboard as people and programs reach it, for the links in alerts.',
    }),
  VIGIL_LINK_KEY: linkKey.optional(),
  VIGIL_DEADMAN_URL: httpUrl('give the address that expects a request each minute, or leave it out').optional().meta({
    isSecret: true,
    description:
      'Gets a POST each half minute while time flows and no service stands still; its owner notifies people when the requests stop.',
  }),
  ...probeSettings,
  VIGIL_TRIAGE_MODEL_URL: httpUrl('give the base address of the server, such as https://api.example/v1')
    .optional()
    .meta({ description: 'An OpenAI-compatible server whose model assesses tickets; without it no model does.' }),
  VIGIL_TRIAGE_MODEL: z.string().min(1).max(128).optional().meta({
    values: 'text, at most 128 characters',
    description: 'The name of that model; required with its address.',
  }),
  VIGIL_TRIAGE_MODEL_KEY_FILE: z
    .string()
    .min(1)
    .optional()
    .meta({ values: 'file', description: 'Holds the key of that server; without it no key is sent.' }),
  VIGIL_TRIAGE_MODEL_TIMEOUT_MS: whole(100, 60_000)
    .default(10_000)
    .meta({ unit: 'milliseconds', description: 'How long an answer of the model is awaited.' }),
  VIGIL_ALERT_GROUP_WAIT_MS: whole(0, 3_600_000).default(30_000).meta({
    unit: 'milliseconds',
    description: 'From the start of an alert to its first notification; 0 notifies at once.',
  }),
  VIGIL_ALERT_GROUP_LEAST: whole(2, 10_000).default(10).meta({
    unit: 'alerts',
    description: 'So many alerts of one route within half a minute are one alert, which holds back the others.',
  }),
  VIGIL_ALERT_END_WAIT_MS: whole(0, 3_600_000).default(30_000).meta({
    unit: 'milliseconds',
    description: 'How long the end of an alert waits for another start, so that a flapping agent is one incident.',
  }),
  VIGIL_ALERT_REPEAT_MS: whole(60_000, 604_800_000)
    .default(14_400_000)
    .meta({ unit: 'milliseconds', description: 'The time between repeated notifications of an open alert.' }),
});

type WaitTimes = Pick<
  z.output<typeof config>,
  'VIGIL_ALERT_GROUP_WAIT_MS' | 'VIGIL_ALERT_END_WAIT_MS' | 'VIGIL_ALERT_REPEAT_MS'
>;

export const settingsOf = (waitTimes: WaitTimes, routing: Routing): Settings => ({
  groupWaitMs: waitTimes.VIGIL_ALERT_GROUP_WAIT_MS,
  endWaitMs: waitTimes.VIGIL_ALERT_END_WAIT_MS,
  repeatMs: waitTimes.VIGIL_ALERT_REPEAT_MS,
  routing,
});

type Grouping = Pick<z.output<typeof config>, 'VIGIL_ALERT_GROUP_LEAST' | 'VIGIL_ALERT_GROUP_WAIT_MS'>;

export const groupSettingsOf = (settings: Grouping): GroupSettings => ({
  least: settings.VIGIL_ALERT_GROUP_LEAST,
  waitMs: settings.VIGIL_ALERT_GROUP_WAIT_MS,
});

type OwnHealth = Pick<z.output<typeof config>, 'VIGIL_DEADMAN_URL' | 'VIGIL_PROBES'>;

/** Alerting cannot probe itself: its own time shows whether it works. */
export const ownHealthSettings = ({ VIGIL_DEADMAN_URL, VIGIL_PROBES }: OwnHealth) => ({
  deadmanUrl: VIGIL_DEADMAN_URL ?? null,
  probes: VIGIL_PROBES.filter(([service]) => service !== 'alerting'),
});
