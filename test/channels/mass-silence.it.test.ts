import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Topic } from '@vigil/events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { pagerdutyServer, slackServer } from '../../services/alerting/src/sinks/receivers.fixture.ts';
import { type Herd, startHerd } from '../support/herd/herd.ts';
import { holds, openSystem, ownServers, type TestSystem } from '../support/system.ts';

const AGENTS = 500;

/** As the presets do, it counts an agent as lost before it finds it STUCK. */
const POLICY = {
  policy: 'mass',
  heartbeat: { interval: '1s', lost_after: '3s' },
  signals: { no_heartbeat: { after: '8s' } },
  states: { STUCK: ['no_heartbeat'] },
  exemptions: { starting: false, idle: false },
  plans: [{ when: 'STUCK', do: [{ alert: { severity: 'warning' } }] }],
  alerts: { stuck_agent: { severity: 'warning', channels: ['pager', 'chat'] } },
};

/** The rules of a brake and of its alerts are those of production, at seconds. */
const QUICK = {
  ...{ VIGIL_GOVERNOR_BRAKE_MIN_AGE_S: '4', VIGIL_GOVERNOR_BRAKE_BACK_S: '2', VIGIL_GOVERNOR_SETTLE_S: '1' },
  ...{ VIGIL_ALERT_GROUP_WAIT_MS: '6000', VIGIL_ALERT_END_WAIT_MS: '2000' },
};

describe.skipIf(!ownServers)(`${AGENTS} agents that fall silent at once`, () => {
  let opened: AsyncDisposableStack;
  let dir: string;
  beforeEach(() => {
    opened = new AsyncDisposableStack();
    dir = mkdtempSync(path.join(tmpdir(), 'vigil-mass-'));
  });
  afterEach(async () => {
    await opened.disposeAsync();
    rmSync(dir, { recursive: true, force: true });
  }, 120_000);

  const start = async (name: string, env: Readonly<Record<string, string>>) => {
    const pager = opened.use(await pagerdutyServer());
    const chat = opened.use(await slackServer());
    const channels = {
      pager: { kind: 'pagerduty', url: pager.url, routing_key_env: 'PAGER_KEY' },
      chat: { kind: 'slack', url: chat.url, channel: 'C0123ABCD', token_env: 'CHAT_TOKEN' },
    };
    const alerts = path.join(dir, 'alerts.json');
    writeFileSync(alerts, JSON.stringify({ default: ['pager', 'chat'], channels }));
    writeFileSync(path.join(dir, 'mass.yaml'), JSON.stringify(POLICY));
    const files = { VIGIL_ALERTS_FILE: alerts, VIGIL_POLICY_DIR: dir, PAGER_KEY: 'key', CHAT_TOKEN: 'xoxb-token' };
    const vigil = await openSystem({ name, policy: 'mass', env: { ...QUICK, ...files, ...env } });
    opened.defer(() => vigil.stop());
    const none = { silent: 0, crashes: 0, loops: 0 };
    const herd = await startHerd(vigil, { straight: AGENTS, throughHttp: 0, behaviours: none, fromMs: 0, overMs: 0 });
    opened.defer(() => herd.stop());
    return { vigil, herd, pager, chat };
  };

  const agentsTurned = async (vigil: TestSystem, to: string): Promise<number> => {
    const changes = (await vigil.events(Topic.agentHealth)).filter(({ type }) => type === 'HEALTH_STATE_CHANGED');
    return new Set(changes.filter(({ payload }) => 'to' in payload && payload.to === to).map(({ key }) => key)).size;
  };
  /** The brake counts agents that are older than a moment. */
  const grown = (herd: Herd) => holds(() => expect(herd.heartbeats()).toBeGreaterThan(AGENTS * 8));

  test.each([['without a brake', 'alert_group', { VIGIL_GOVERNOR_BRAKE_LEAST: '10000' }]])(
    '%s are one incident and one thread, which end when the agents are back',
    async (_, route, env) => {
      const { vigil, herd, pager, chat } = await start(`mass-${route.replace('_', '-')}`, env);
      await grown(herd);
      herd.connected(false);
      await holds(async () => expect(await agentsTurned(vigil, 'STUCK')).toBe(AGENTS));
      const open = await holds(() => expect([pager.incidents.length, chat.threads().length]).toEqual([1, 1]));
      expect(open).toBeUndefined();
      // PagerDuty keeps the title of the group wait's end; the alert and the thread follow the count.
      expect(pager.incidents[0]?.summary).toMatch(/^\d+ agents are STUCK or FAILING$/);
      const titles = async () =>
        (await vigil.events(Topic.alert)).flatMap((event) =>
          event.type === 'ALERT_UPDATED' || event.type === 'ALERT_RAISED' ? [event.payload.title] : [],
        );
      await holds(async () => expect(await titles()).toContain(`${AGENTS} agents are STUCK or FAILING`));
      const all = `${AGENTS} agents are STUCK or FAILING`;
      await holds(() => expect(chat.threads()).toEqual([expect.stringContaining(all)]));
      herd.connected(true);
      await holds(() => expect(pager.incidents.filter(({ isOpen }) => isOpen)).toEqual([]));
      await holds(() => expect(chat.threads()).toEqual([expect.stringContaining(`Resolved: ${all}`)]));
      await holds(async () => {
        const alerts = await vigil.events(Topic.alert);
        const count = (type: string) => alerts.filter((event) => event.type === type).length;
        expect(count('ALERT_RESOLVED')).toBe(count('ALERT_RAISED'));
      });
      expect([pager.actions[0], pager.actions.at(-1)]).toEqual(['trigger', 'resolve']);
      expect([pager.incidents.length, pager.dropped, chat.threads().length]).toEqual([1, [], 1]);
      const raised = (await vigil.events(Topic.alert)).filter(({ type }) => type === 'ALERT_RAISED');
      const delivered = (await vigil.events(Topic.alert)).flatMap((event) =>
        event.type === 'ALERT_DELIVERED' ? [event.payload.alertKey] : [],
      );
      expect(raised.length).toBeGreaterThan(AGENTS);
      expect([...new Set(delivered)]).toEqual([expect.stringMatching(`^${route}:`)]);
    },
    400_000,
  );
});
