import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { openSystem, ownServers, soak, type TestSystem } from '../support/system.ts';
import { SECRET, startOrchestrator } from './orchestrator.ts';
import { type Act, acts, alone } from './playbill.ts';
import { asInItsFile, decidedByPeople, named, scaled } from './scaled.ts';
import { folderIn, openStage, type Stage } from './stage.ts';
import * as cancelled from './stories/cancelled.ts';
import * as dogs from './stories/dogs.ts';
import * as gastown from './stories/gastown.ts';
import * as handing from './stories/handing.ts';
import * as starting from './stories/starting.ts';

/** Longer than the first back-off, and than the pause of an agent takes on a busy machine. */
const limited = { for: '8s' };
/** Without this, it would take a minute and a half. */
const sooner = { token_burn: { for: '15s' }, no_claim_refresh: { after: '20s' } };
/**
 * Ten minutes as seven and a half seconds. An order must be valid as long as the agent needs for an answer, also on a
 * busy machine. Its stories have more recoveries than the five an hour of the preset.
 */
const adr110 = scaled('coditect', 80, { recovery: { max_attempts_per_hour: 100 } });
/**
 * With a probation and a stable time that a story can wait for. Beside other runtimes one runtime may use half of the
 * five recoveries an hour, rounded up. The fourth recovery of the story would wait for an hour.
 */
const counted = named(
  scaled('coditect', 80, { recovery: { probation: '2s', stable: '2s', max_attempts_per_hour: 100 } }),
  'coditect-count',
);
/** With the five recoveries an hour of the preset. */
const hourly = named(scaled('coditect', 80), 'coditect-hour');
/** Slow enough that a third of its interval of heartbeats is above a second, and that a person can look while an agent is DEGRADED. */
const watched = named(
  scaled('coditect', 50, { signals: { no_checkpoint: { after: '90s', assume_checkpoints: true } } }),
  'coditect-watched',
);
/** An agent that has reported no call is excused as starting for two minutes, and lost after 15 s of silence: not here. */
const eight = named(
  scaled('coditect', 80, {
    exemptions: { starting: { grace: '2s' } },
    heartbeat: { interval: '3750ms', lost_after: '2m' },
  }),
  'coditect-eight',
);
/** Slow enough for consecutive pauses on a busy machine. */
const longer = { rate_limited: { for: '30s' } };
const botbox = scaled('botbox', 40, {
  signals: { ...sooner, rate_limited: limited },
  exemptions: { rate_limited: limited },
});
/** A policy whose friction event the channel of alerting writes. */
const toFiles = {
  files: { friction: null },
  alerts: { recovery_failed: { severity: 'critical', channels: ['console', 'files'] } },
};
const toOrchestrator = { alerts: { stuck_agent: { severity: 'warning', channels: ['orchestrator'] } } };
/** Each preset, with limits of seconds. */
const policies = {
  coditect: adr110,
  'coditect-count': counted,
  'coditect-hour': hourly,
  'coditect-watched': watched,
  'coditect-eight': eight,
  'coditect-people': decidedByPeople(adr110, 'coditect-people', '90s'),
  'coditect-orchestrator': decidedByPeople(scaled('coditect', 120, toOrchestrator), 'coditect-orchestrator', '90s'),
  botbox,
  'botbox-slow': named(scaled('botbox', 12, { signals: longer, exemptions: longer }), 'botbox-slow'),
  'botbox-kill': asInItsFile(botbox, 'botbox-kill', { auto_kill_on_repeated_error: true }),
  gascity: scaled('gascity', 15, {
    enabled: true,
    signals: { error_pattern: { patterns: ['API Error: 400'], lines: 50 } },
  }),
  'gascity-plain': named(scaled('gascity', 15, { enabled: true }), 'gascity-plain'),
  'gascity-off': named(scaled('gascity', 15), 'gascity-off'),
  omniclaude: scaled('omniclaude', 15),
  'omniclaude-files': named(scaled('omniclaude', 20, toFiles), 'omniclaude-files'),
  hive: scaled('hive', 40),
  gastown: gastown.policy,
  handing: handing.policy,
  cancelled: cancelled.policy,
  dogs: dogs.policy,
  starting: starting.policy,
};

const env = {
  VIGIL_GOVERNOR_SETTLE_S: '1',
  VIGIL_GOVERNOR_COOLDOWN_S: '1',
  VIGIL_GOVERNOR_STEPS_PER_MINUTE: '100',
  VIGIL_GOVERNOR_SPAWNS_PER_HOUR: '100',
  // The stories of an act have up to five deaths within half a minute, so the brake would be on from then to the end.
  VIGIL_GOVERNOR_BRAKE_LEAST: '8',
  // An agent can count as lost from its first heartbeat on, so the stories begin at once.
  VIGIL_GOVERNOR_BRAKE_MIN_AGE_S: '0',
  VIGIL_ALERT_GROUP_WAIT_MS: '1000',
  VIGIL_ALERT_END_WAIT_MS: '0',
  VIGIL_WEBHOOK_SECRET: SECRET,
};

/** The longest time of one act on a slow machine. */
const STORY_MS = 600_000;

const NAME = 'scenarios';
/** The folder of the stage's agents, into which alerting writes beside their runtime. */
const root = folderIn(path.resolve(import.meta.dirname, '../../.vigil', `system-${NAME}-${process.pid}`));

const channelsFor = (url: string): string =>
  JSON.stringify({
    default: ['console'],
    channels: {
      orchestrator: { kind: 'webhook', url, secret_env: 'VIGIL_WEBHOOK_SECRET' },
      files: { kind: 'files', root },
    },
  });

const storiesOf = ({ stories, slow }: Pick<Act, 'stories' | 'slow'>) => soak(stories, { ...stories, ...slow });

describe.skipIf(!ownServers)('each source’s story, with its preset at seconds', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'vigil-scenarios-'));
  let vigil: TestSystem;
  let stage: Stage;

  beforeAll(async () => {
    const folders = { VIGIL_POLICY_DIR: path.join(dir, 'policies'), VIGIL_ALERTS_FILE: path.join(dir, 'alerts.json') };
    mkdirSync(folders.VIGIL_POLICY_DIR);
    for (const [name, text] of Object.entries(policies))
      writeFileSync(path.join(folders.VIGIL_POLICY_DIR, `${name}.yaml`), text);
    const orchestrator = await startOrchestrator();
    writeFileSync(folders.VIGIL_ALERTS_FILE, channelsFor(orchestrator.url));
    vigil = await openSystem({ name: NAME, policy: 'coditect', env: { ...env, ...folders } });
    stage = await openStage(vigil, orchestrator);
  }, 300_000);
  afterAll(async () => {
    await stage?.stop();
    await vigil?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const outcomes = new Map<string, Promise<unknown>>();
  const run = (before: Promise<unknown>, { cast, ...act }: Act): Promise<unknown> => {
    const stories = storiesOf(act);
    const entered = before.then(() => stage.enter(cast));
    for (const [name, story] of Object.entries(stories)) {
      const outcome = entered.then(() => story(stage));
      outcomes.set(
        name,
        outcome.then(
          () => null,
          (error) => error,
        ),
      );
    }
    const all = Object.keys(stories).map((name) => outcomes.get(name));
    return Promise.all(all).then(async () => (await entered)());
  };

  describe('stories at once', () => {
    let all: Promise<unknown>;
    beforeAll(() => {
      all = acts.reduce(run, Promise.resolve<unknown>(null));
    });
    afterAll(() => all);

    describe.each(acts)('$name', (act) => {
      test.each(Object.keys(storiesOf(act)))(
        '%s',
        async (name) => {
          const error = await outcomes.get(name);
          if (error) throw error;
        },
        STORY_MS,
      );
    });
  });

  describe(alone.name, () => {
    beforeAll(() => void stage.enter(alone.cast));
    test.each(Object.entries(storiesOf(alone)))('%s', (_, story) => story(stage));
  });
});
