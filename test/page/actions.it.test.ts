import { spawn } from 'node:child_process';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { type HealthEvent, Topic, type TopicName } from '@vigil/events';
import { connect, overGateway, type Vigil } from '@vigil/sdk';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPuppets, type Puppets } from '../acting/puppets.ts';
import { type Received, receive } from '../support/received.ts';
import { openSystem, ownServers, ROOM, type TestSystem, until } from '../support/system.ts';
import { goTo, installedBrowser, openBrowser, openPage, WAIT_MS } from './browser.ts';

const POLICY = 'page-actions';
/** So many agents of one host are lost at once; the other ends of this suite are fewer. */
const LOST = 12;

const env = {
  ...ROOM,
  VIGIL_POLICY_DIR: path.join(import.meta.dirname, 'policies'),
  VIGIL_GOVERNOR_SETTLE_S: '1',
  VIGIL_GOVERNOR_COOLDOWN_S: '0',
  VIGIL_GOVERNOR_BRAKE_LEAST: String(LOST),
  VIGIL_GOVERNOR_BRAKE_MIN_AGE_S: '0',
  VIGIL_ALERT_GROUP_WAIT_MS: '0',
  VIGIL_ALERT_END_WAIT_MS: '0',
};

const COMMANDS = [
  ...[Topic.decideCase, Topic.controlAgent, Topic.controlFleet, Topic.controlAlerts],
  ...[Topic.handleRequest, Topic.reviewTask],
] as const;
const EFFECTS = [
  ...[Topic.agentHealth, Topic.agentIntervention, Topic.agentRequest, Topic.fleetGovernance],
  ...[Topic.taskRecovery, Topic.alert, Topic.agentOrder, Topic.orderReceipt],
] as const;

const executable = installedBrowser();

/**
 * Each action of the page: a click in a real browser, the command in Kafka, the event of the service that decides it,
 * and the outcome on the page. Each kind of command that the page sends is clicked in one of its places. The live terminal
 * sends a lease in the place of a command.
 */
describe.skipIf(!ownServers || executable === null)('an action of the page on a real system', () => {
  let vigil: TestSystem;
  let received: Received;
  let puppets: Puppets;
  let breaks: Vigil;
  let browser: Browser;
  let page: Page;
  const problems: string[] = [];
  let asked = 0;

  const url = () => vigil.system.env.VIGIL_DASHBOARD_URL;
  const go = (place: string) => goTo(page, url(), place);
  const inbox = (id: string | RegExp) => page.getByRole('listitem').filter({ hasText: id });
  const row = (words: string) => page.getByRole('row').filter({ hasText: words });
  const outcomes = () => page.getByLabel('Commands of this page');
  const commandWith = (why: string): HealthEvent | undefined =>
    COMMANDS.flatMap((topic): readonly HealthEvent[] => received.of(topic)).find(
      ({ payload }) => (payload as { readonly why?: unknown }).why === why,
    );
  /** The event of this type that the command has caused, at once or over other events. */
  const effectOf = (command: HealthEvent, topic: TopicName, type: string) =>
    until(`${type} by ${command.type}`, async () =>
      received
        .of(topic)
        .find(
          (event) =>
            event.type === type &&
            (event.causationId === command.eventId || event.correlationId === command.correlationId),
        ),
    );
  /** Clicks, gives the reason, and follows the command: in the log, to its effect, and to its outcome on the page. */
  const act = async (
    button: Locator,
    label: string,
    effect: readonly [topic: TopicName, type: string],
    fill: () => Promise<unknown> = async () => {},
  ): Promise<HealthEvent> => {
    asked += 1;
    const why = `${label}, number ${asked}`;
    await button.click();
    await fill();
    await page.getByLabel('Why').fill(why);
    await page.getByRole('dialog').getByRole('button', { name: label, exact: true }).click();
    await outcomes().getByText(`${label} done`).last().waitFor();
    const command = await until(`the command "${why}"`, async () => commandWith(why));
    expect(command.payload).toMatchObject({ by: 'admin (page)' });
    const caused = await effectOf(command, ...effect);
    const dismiss = outcomes().getByRole('button', { name: `Dismiss: ${label}`, exact: true });
    while ((await dismiss.count()) > 0)
      await dismiss
        .first()
        .click()
        .catch(() => {});
    return caused;
  };
  const button = (name: string, within: Locator | Page = page) => within.getByRole('button', { name, exact: true });
  const post = async (from: string, token: string, where: string, body: object): Promise<unknown> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(`${from}${where}`, { method: 'POST', headers, body: JSON.stringify(body) });
    expect([200, 201, 202]).toContain(answer.status);
    return answer.json();
  };

  beforeAll(async () => {
    vigil = await openSystem({ name: POLICY, policy: POLICY, env });
    received = await receive(vigil, [
      ...[...COMMANDS, ...EFFECTS, Topic.heartbeat],
      ...[Topic.leaseTerminal, Topic.agentTerminal],
    ]);
    const crashing = ['crashes-1', 'crashes-2', 'crashes-3'].map((name) => ({ name, task: `T-${name}` }));
    // It has sent heartbeats by then: its policy recovers it.
    const crash = { command: '/bin/sh', args: ['-c', 'sleep 4; exit 1'] };
    puppets = openPuppets(
      vigil,
      received,
      POLICY,
      [
        ...['works', 'handed', 'restarted', 'ended', 'recovered'],
        ...['-asks-time', '-asks-pardon', '-asks-handoff', '-asks-end'],
      ],
      {
        capacity: 40,
        templates: crashing.map((one) => ({ ...one, ...crash })),
        agents: crashing.map((one) => ({ ...one, template: one.name })),
      },
    );
    puppets.start();
    const { VIGIL_GATEWAY_URL, VIGIL_GATEWAY_TOKEN, VIGIL_DASHBOARD_TOKEN } = vigil.system.env;
    const over = overGateway({ url: VIGIL_GATEWAY_URL, token: VIGIL_GATEWAY_TOKEN });
    breaks = connect({ agentId: 'breaks', taskId: 'T-breaks', over, intervalMs: 500, onCommand: () => {} });
    const fails = () => breaks.call({ tool: 'Bash', args: 1 }, () => Promise.reject(new Error('exit 1')));
    for (let n = 0; n < 5; n += 1) await fails().catch(() => {});
    browser = await openBrowser(executable ?? '');
    page = await openPage(browser, problems);
    const login = await post(url(), VIGIL_DASHBOARD_TOKEN, '/v1/login-links', {});
    await page.goto(`${url()}${(login as { readonly path: string }).path}`);
    await page.getByText('role admin').waitFor();
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    await breaks?.close({ withinMs: 500 });
    await puppets?.stop();
    received?.stop();
    await vigil?.stop();
  });

  test('a nudge reaches its agent in the words of the person', async () => {
    await go('fleet/works');
    const message = 'please write a checkpoint';
    const fill = () => page.getByLabel('Text to the agent').fill(message);
    const sent = await act(button('Nudge'), 'Nudge', [Topic.agentIntervention, 'NUDGE_SENT'], fill);
    expect(sent.payload).toMatchObject({ agentId: 'works', message });
    await page
      .getByRole('region', { name: 'What happened' })
      .getByText(/nudged/)
      .first()
      .waitFor();
  });

  test('an agent is held, is shown as held, and is released', async () => {
    await go('fleet/works');
    const held = await act(button('Hold'), 'Hold', [Topic.agentHealth, 'HOLD_CHANGED']);
    expect(held.payload).toMatchObject({ agentId: 'works' });
    const tag = page.locator('.title').getByText(/^held by admin \(page\)/);
    await tag.waitFor();
    await act(button('Release'), 'Release', [Topic.agentHealth, 'HOLD_CHANGED']);
    await tag.waitFor({ state: 'detached' });
    await button('Hold').waitFor();
  });

  test('the live terminal of an agent has what it prints, until it is closed: then its lease ends, and nothing more of it is published', async () => {
    await go('fleet/works');
    const printed = puppets.parts('works');
    await button('Show terminal').click();
    await page.getByText(/^Live\./).waitFor();
    const terminal = page.getByLabel('Terminal of works');
    const shows = (line: string) =>
      expect.poll(async () => (await terminal.textContent())?.split('\n'), { timeout: WAIT_MS }).toContain(line);
    await shows(`part ${printed} is done`);
    // It is printed while the terminal is open.
    await shows(`part ${puppets.parts('works') + 3} is done`);
    const lease = () => received.of(Topic.leaseTerminal).at(-1)?.payload;
    const began = lease();
    expect(began).toMatchObject({ agentId: 'works', by: 'admin', ttlMs: 30_000 });
    await button('Close terminal').click();
    await until('the end of the lease', async () => lease()?.ttlMs === 0, 18_000);
    expect(lease()).toEqual({ ...began, ttlMs: 0 });
    // A lease that does not end lasts longer than this limit: its last renewal was at most 10 s ago.
    let last = { sent: 0, parts: 0 };
    const isQuiet = async (): Promise<boolean> => {
      const sent = received.of(Topic.agentTerminal).length;
      const parts = puppets.parts('works');
      if (sent !== last.sent) last = { sent, parts };
      return parts - last.parts >= 10;
    };
    await until('the agent prints ten lines that are not published', isQuiet, 18_000);
    await button('Show terminal').waitFor();
  });

  test.each([
    ['handed', 'Hand off', [Topic.agentIntervention, 'HANDOFF_REQUESTED']],
    ['restarted', 'Restart', [Topic.agentOrder, 'TERMINATE_AGENT']],
    ['recovered', 'Terminate and recover', [Topic.agentOrder, 'TERMINATE_AGENT']],
    ['ended', 'Terminate', [Topic.agentIntervention, 'AGENT_TERMINATED']],
  ] as const)('%s: %s', async (agentId, label, effect) => {
    await go(`fleet/${agentId}`);
    const before = await puppets.instance(agentId);
    const caused = await act(button(label), label, effect);
    expect(caused.payload).toMatchObject({ agentId });
    if (label === 'Restart') await puppets.instance(agentId, before.instanceId);
    else await page.locator('.title').getByText('TERMINATED', { exact: true }).waitFor();
  });

  test.each([
    ['asks-time', 'Allow more time', async () => go('inbox'), () => inbox('asks-time')],
    ['asks-pardon', 'Pardon', async () => go('fleet/asks-pardon'), () => page.locator('.asking')],
    [
      'asks-handoff',
      'Force handoff',
      async () => go('cases'),
      () => row('asks-handoff').filter({ hasText: 'waits for you' }),
    ],
    ['asks-end', 'Terminate and recover', async () => go('fleet/asks-end'), () => page.locator('.asking')],
  ] as const)('the question of the case of %s is answered: %s', async (agentId, label, place, within) => {
    await place();
    const fill = async () => {
      if (label === 'Allow more time') await page.getByRole('dialog').getByLabel('For').selectOption('15 minutes');
    };
    const effect = [Topic.agentIntervention, 'ESCALATION_DECIDED'] as const;
    const decided = await act(button(label, within()), label, effect, fill);
    expect(decided.payload).toMatchObject({ agentId, decision: label.toLowerCase().replaceAll(' ', '_') });
    await go('inbox');
    await inbox(new RegExp(`case/.*${agentId}|${agentId}.*case/`)).waitFor({ state: 'detached' });
  });

  /** What the hook of a coding agent prints for this event. */
  const hooked = (agent: string, event: object): Promise<string> => {
    const { VIGIL_GATEWAY_URL, VIGIL_GATEWAY_TOKEN } = vigil.system.env;
    const launcher = path.resolve(import.meta.dirname, '../../packages/dev/bootstrap/vigil.mjs');
    const hook = spawn(process.execPath, [launcher, 'hook', '--client', 'claude-code'], {
      env: {
        ...{ PATH: process.env.PATH ?? '', VIGIL_GATEWAY_URL, VIGIL_GATEWAY_TOKEN, VIGIL_AGENT: agent },
        ...{ VIGIL_STATE_DIR: path.join(vigil.dir, 'hooks'), CLAUDE_CODE_ENTRYPOINT: 'sdk-cli' },
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    hook.stdin.end(JSON.stringify({ session_id: agent, ...event }));
    return text(hook.stdout);
  };

  test('the permission request of a hook is allowed, and the hook prints it', async () => {
    const asks = { hook_event_name: 'PermissionRequest', tool_name: 'Bash', tool_input: { command: 'rm -rf build' } };
    const printed = hooked('permits', asks);
    await go('inbox');
    const item = inbox('Bash: rm -rf build').filter({ hasText: 'request/' });
    const answered = await act(button('Allow', item), 'Allow', [Topic.agentRequest, 'REQUEST_ANSWERED']);
    expect(answered.payload).toMatchObject({ agentId: 'permits', option: 'allow' });
    await item.waitFor({ state: 'detached' });
    expect(JSON.parse(await printed)).toMatchObject({ hookSpecificOutput: { decision: { behavior: 'allow' } } });
  });

  test('the question of a hook is answered, and the hook prints the answer', async () => {
    const options = ['Postgres', 'SQLite'].map((label) => ({ label, description: '' }));
    const questions = [
      { question: 'Which database?', header: 'Database', multiSelect: false, options },
      { question: 'Which cache?', header: 'Cache', multiSelect: false, options },
    ];
    const asks = { hook_event_name: 'PreToolUse', tool_name: 'AskUserQuestion', tool_input: { questions } };
    const printed = hooked('asks', asks);
    await go('inbox');
    const item = inbox('Which database?').filter({ hasText: 'request/' });
    await item.getByRole('radio', { name: 'SQLite' }).first().check();
    await item.getByRole('radio', { name: 'Postgres' }).last().check();
    await act(button('Answer', item), 'Answer', [Topic.agentRequest, 'REQUEST_ANSWERED']);
    await item.waitFor({ state: 'detached' });
    const answers = { 'Which database?': 'SQLite', 'Which cache?': 'Postgres' };
    expect(JSON.parse(await printed)).toMatchObject({ hookSpecificOutput: { updatedInput: { answers } } });
  });

  test('an open breaker of an agent is reset', async () => {
    await go('breakers');
    const reset = await act(button('Reset', row('breaks')), 'Reset', [Topic.agentHealth, 'BREAKER_RESET_ASKED']);
    expect(reset.payload).toMatchObject({ agentId: 'breaks', name: 'tool_execution' });
    await row('breaks').getByText('closed').waitFor();
  });

  test.each([
    ['crashes-1', 'Retry', 'tasks', () => row('T-crashes-1')],
    ['crashes-2', 'Reset', 'inbox', () => inbox('task/T-crashes-2')],
    ['crashes-3', 'Abandon', 'tasks/T-crashes-3', () => page.locator('#view')],
  ] as const)('the review of the task of %s is decided: %s', async (agentId, label, place, within) => {
    await go(place);
    const decided = await act(button(label, within()), label, [Topic.taskRecovery, 'REVIEW_DECIDED']);
    expect(decided.payload).toMatchObject({ taskId: `T-${agentId}`, decision: label.toLowerCase() });
  });

  test('the task of an agent that was ended and recovered has another agent, which its view shows', async () => {
    await go('tasks/T-recovered');
    await page
      .getByRole('table', { name: 'Recoveries' })
      .getByRole('link', { name: /^recovered-r1/ })
      .waitFor();
    const types = received.of(Topic.taskRecovery).flatMap(({ key, type }) => (key === 'T-recovered' ? [type] : []));
    expect(types).toContain('RECOVERY_COMPLETED');
  });

  /** Agents that report once, and are lost after the time of their policy. */
  const loseAgents = async (): Promise<void> => {
    const { VIGIL_GATEWAY_URL, VIGIL_GATEWAY_TOKEN } = vigil.system.env;
    const heartbeat = (n: number) => ({
      ...{ agent_id: `far-${n}`, task_id: `T-far-${n}`, phase: 'work', last_tool_call: null, token_count: 1 },
      ...{ error_count: 0, progress_indicator: '1/2', instance_id: `far-${n}-1`, sequence: 1, timestamp: Date.now() },
      labels: { host: 'far-host' },
    });
    for (let n = 0; n < LOST; n += 1)
      await post(VIGIL_GATEWAY_URL, VIGIL_GATEWAY_TOKEN, '/v1/heartbeats', heartbeat(n));
  };

  test('an alert is acknowledged, silenced and resolved, its silence is ended, and its channel is tested', async () => {
    // No later test ends or starts an agent, and meanwhile they are found to be lost.
    await loseAgents();
    puppets.silence('works');
    await go('alerts');
    // An agent may have several alerts, and their order changes.
    const first = row('works').filter({ hasNotText: 'resolved' }).first();
    const title = await first.locator('strong').first().innerText();
    const alert = row(title).filter({ hasNotText: 'resolved' }).first();
    await act(button('Acknowledge', alert), 'Acknowledge', [Topic.alert, 'ALERT_ACKNOWLEDGED']);
    await alert
      .getByText(/acknowledged/)
      .first()
      .waitFor();
    await act(button('Silence', alert), 'Silence', [Topic.alert, 'SILENCE_CHANGED']);
    const silences = page.getByRole('region', { name: 'Silences' });
    await act(button('End silence', silences), 'End silence', [Topic.alert, 'SILENCE_CHANGED']);
    await silences.waitFor({ state: 'detached' });
    await act(button('Resolve', alert), 'Resolve', [Topic.alert, 'ALERT_RESOLVED']);
    await act(button('Test console'), 'Test console', [Topic.alert, 'ALERT_RAISED']);
    puppets.rouse('works');
  });

  // Its agent makes no progress, which would answer the ticket.
  test('a ticket that needs people is acknowledged in the inbox', async () => {
    const { VIGIL_DASHBOARD_TOKEN } = vigil.system.env;
    const ticket = {
      ticketId: 'j-1',
      severity: 'critical',
      cause: 'it repeats itself',
      by: 'judge',
      why: 'no progress',
    };
    await post(url(), VIGIL_DASHBOARD_TOKEN, '/v1/commands', { kind: 'file_ticket', agentId: 'asks-time', ...ticket });
    await go('inbox');
    const item = inbox('ticket/j-1');
    await act(button('Acknowledge', item), 'Acknowledge', [Topic.alert, 'ALERT_ACKNOWLEDGED']);
    await item.waitFor({ state: 'detached' });
  });

  test('the speed of the services is on the page, by their own metrics', async () => {
    await go('fleet');
    const figure = (name: string) => page.getByLabel('Targets').locator('div').filter({ hasText: name });
    for (const name of ['Health check', 'Heartbeat', 'State change'])
      await figure(name)
        .getByText(/^at most \d/)
        .waitFor();
    await figure('Agents watched').getByText(/^\d+$/).waitFor();
  });

  test('the fleet is halted and resumed, and has a dry run', async () => {
    await go('fleet');
    for (const [label, type, banner, state] of [
      ['Halt', 'FLEET_HALTED', 'HALTED', 'visible'],
      ['Resume', 'FLEET_RESUMED', 'HALTED', 'detached'],
      ['Dry run', 'DRY_RUN_CHANGED', 'DRY RUN', 'visible'],
      ['End dry run', 'DRY_RUN_CHANGED', 'DRY RUN', 'detached'],
    ] as const) {
      await act(button(label), label, [Topic.fleetGovernance, type]);
      await page.getByText(banner, { exact: true }).first().waitFor({ state });
    }
  });

  test('a brake that the loss of many agents engaged is lifted', async () => {
    await go('fleet');
    await page.getByText('BRAKE', { exact: true }).first().waitFor();
    await act(button('Lift the brake'), 'Lift the brake', [Topic.fleetGovernance, 'BRAKE_RELEASED']);
    await page.getByText('BRAKE', { exact: true }).first().waitFor({ state: 'detached' });
  });

  test('a change without a connection is on the page once, as soon as there is one again, and so is the next', async () => {
    await go('fleet/works');
    const { VIGIL_DASHBOARD_TOKEN } = vigil.system.env;
    const command = (kind: string, why: string) =>
      post(url(), VIGIL_DASHBOARD_TOKEN, '/v1/commands', { kind, agentId: 'works', by: 'tester', why });
    const story = page.getByRole('region', { name: 'What happened' });
    const held = story.getByText('held by admin (tester): while the page is offline');
    const released = story.getByText('released by admin (tester): after that');
    await page.context().setOffline(true);
    await page.getByText(/^BLIND since/).waitFor();
    await command('hold', 'while the page is offline');
    await until('the hold is decided', async () =>
      received.of(Topic.agentHealth).find(({ key, type, payload }) => {
        const { why } = payload as { readonly why?: unknown };
        return key === 'works' && type === 'HOLD_CHANGED' && why === 'while the page is offline';
      }),
    );
    expect(await held.count()).toBe(0);
    await page.context().setOffline(false);
    await held.waitFor();
    await command('release', 'after that');
    await released.waitFor();
    expect([await held.count(), await released.count()]).toEqual([1, 1]);
  });

  test('the browser has reported no mistake', () => {
    expect(problems).toEqual([]);
  });
});
