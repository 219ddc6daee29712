import { httpUrl, logSettings, probeSettings, whole } from '@vigil/chassis';
import { linkKey } from '@vigil/chassis/decision-link';
import { z } from 'zod';
import type { Settings } from './alert/messages.ts';
import type { Routing } from './alert/routing.ts';

/**
 * Group wait and repeat are milliseconds; 0: sinks are notified at once. Without a file only the console is notified.
 */
export const config = logSettings({
  VIGIL_ALERTS_FILE: z.string('give the file that names channels, or leave it out').optional(),
  VIGIL_DASHBOARD_URL: httpUrl('give the address at which others reach the dashboard').default('http://127.0.0.1:7420'),
  /** signs the links of decisions; the dashboard has the same. Without it alerts have none */
  VIGIL_LINK_KEY: linkKey.optional(),
  /** gets a POST each half minute while time flows; its owner notifies people when the requests stop */
  VIGIL_DEADMAN_URL: httpUrl('give the address that expects a request each minute, or leave it out').optional(),
  ...probeSettings,
  /** of an OpenAI-compatible server; without it no model is asked about tickets */
  VIGIL_TRIAGE_MODEL_URL: httpUrl('give the base address of the server, such as https://api.example/v1').optional(),
  VIGIL_TRIAGE_MODEL: z.string().min(1).max(128).optional(),
  VIGIL_TRIAGE_MODEL_KEY_FILE: z.string().min(1).optional(),
  VIGIL_TRIAGE_MODEL_TIMEOUT_MS: whole(100, 60_000).default(10_000),
  VIGIL_ALERT_GROUP_WAIT_MS: whole(0, 3_600_000).default(30_000),
  /** an end that sinks learn waits for another beginning, also without a group wait: a flapping agent is one incident */
  VIGIL_ALERT_END_WAIT_MS: whole(0, 3_600_000).default(30_000),
  VIGIL_ALERT_REPEAT_MS: whole(60_000, 604_800_000).default(14_400_000),
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

type OwnHealth = Pick<z.output<typeof config>, 'VIGIL_DEADMAN_URL' | 'VIGIL_PROBES'>;

/** Alerting cannot probe itself: its own time shows whether it works. */
export const ownHealthSettings = ({ VIGIL_DEADMAN_URL, VIGIL_PROBES }: OwnHealth) => ({
  deadmanUrl: VIGIL_DEADMAN_URL ?? null,
  probes: VIGIL_PROBES.filter(([service]) => service !== 'alerting'),
});
