import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { openSystem, ownServers, type TestSystem } from '../support/system.ts';
import { decidedByPeople, scaled } from './scaled.ts';
import { openStage, type Stage } from './stage.ts';
import * as botbox from './stories/botbox.ts';
import * as coditect from './stories/coditect.ts';
import * as fleet from './stories/fleet.ts';
import * as gascity from './stories/gascity.ts';
import * as hive from './stories/hive.ts';
import * as omniclaude from './stories/omniclaude.ts';

type Story = (stage: Stage) => Promise<void>;

/** All at once, each with agents of its own. */
const atOnce: Readonly<Record<string, Story>> = {
  'coditect: three nudges, escalated, ended, recovered': coditect.nudgedEscalatedEndedRecovered,
  'coditect: deaf to its end, it is killed, and only then replaced': coditect.deafToItsEnd,
  'coditect: healed by the first nudge, it hears no other': coditect.healedByTheNudge,
  'coditect: told to hand off, it does, and its heir goes on from there': coditect.handsOffByDecision,
  'coditect: more time twice and no more, then ended by decision': coditect.moreTimeTwice,
  'botbox: silent, it is ended, its claims are released, people hear of it': botbox.silentEndedAndReleased,
  'botbox: of the same error again and again people hear, and nothing else': botbox.sameErrorTold,
  'botbox: limited, it is paused and resumed, never ended': botbox.limitedPausedAndResumed,
  'gascity: silent through the dance, it is executed': gascity.executedWhenSilent,
  'gascity: what it said last is kept': gascity.forensicsBeforeTheKill,
  'gascity: its answer pardons it': gascity.pardonedByItsAnswer,
  'omniclaude: two fresh agents from the checkpoint, then Blocked': omniclaude.redispatchedTwiceThenBlocked,
  'omniclaude: what it had done is saved in its own file': omniclaude.itsWorkSaved,
  'omniclaude: its healthcheck event says so': omniclaude.itsEventTold,
  'hive: tickets, triage, a notification, and a worker nobody touches': hive.ticketTriageNotification,
};

/** Longer than the first back-off, and than a busy machine takes to pause somebody. */
const limited = { for: '8s' };
const adr110 = scaled('coditect', 120);
/** Each preset as it is, at seconds. */
const policies = {
  coditect: adr110,
  'coditect-people': decidedByPeople(adr110, 'coditect-people', '90s'),
  botbox: scaled('botbox', 40, { signals: { rate_limited: limited }, exemptions: { rate_limited: limited } }),
  gascity: scaled('gascity', 30, {
    enabled: true,
    signals: { error_pattern: { patterns: ['API Error: 400'], lines: 50 } },
  }),
  omniclaude: scaled('omniclaude', 20),
  hive: scaled('hive', 40),
};

const env = {
  VIGIL_GOVERNOR_SETTLE_S: '1',
  VIGIL_GOVERNOR_COOLDOWN_S: '1',
  VIGIL_GOVERNOR_STEPS_PER_MINUTE: '100',
  VIGIL_GOVERNOR_SPAWNS_PER_HOUR: '100',
};

describe.skipIf(!ownServers)('each source’s story, with its preset at seconds', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'vigil-scenarios-'));
  let vigil: TestSystem;
  let stage: Stage;
  const told = new Map<string, Promise<unknown>>();

  beforeAll(async () => {
    for (const [name, text] of Object.entries(policies)) writeFileSync(path.join(dir, `${name}.yaml`), text);
    vigil = await openSystem({ name: 'scenarios', policy: 'coditect', env: { ...env, VIGIL_POLICY_DIR: dir } });
    const roles = [coditect, botbox, gascity, omniclaude, hive, fleet].flatMap((story) => story.roles);
    stage = await openStage(vigil, roles);
    for (const [name, story] of Object.entries(atOnce))
      told.set(
        name,
        story(stage).then(
          () => null,
          (error) => error,
        ),
      );
  });
  afterAll(async () => {
    await stage?.stop();
    await vigil?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  test.each(Object.keys(atOnce))(
    '%s',
    async (name) => {
      const error = await told.get(name);
      if (error) throw error;
    },
    170_000,
  );

  test('in a dry run each step says what it would have done', () => fleet.dryRun(stage));
  test('four die at once: one incident, and nothing is ended', () => fleet.massDeath(stage));
  test('whoever works is not accused because the monitor stood still', () => fleet.standingStill(stage));
});
