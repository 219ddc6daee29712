import { Topic, type TopicName } from '@vigil/events';
import axe from 'axe-core';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signLink } from '../../packages/chassis/src/decision-link.ts';
import { goTo, installedBrowser, openBrowser, openPage, WAIT_MS } from './browser.ts';
import { caused, LINK_KEY, openWorld, startReplays, type World } from './world-model.ts';

const executable = installedBrowser();
if (executable === null)
  console.log(
    'skipped: this machine has no Chromium. Install it with `apt-get install chromium`, or set CHROMIUM_PATH.',
  );

type Violation = {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string }[];
};

/** WCAG 2.2 AA, and what axe recommends beyond it. */
const AXE_TAGS = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** What each view has once its rows are there. */
const CONTENT = ['table', 'ul', 'ol', '.grid', '.facts'].map((one) => `main ${one}:visible`).join(', ');

describe.skipIf(executable === null)('the page in a browser', () => {
  let browser: Browser;
  let world: World;
  let page: Page;
  const problems: string[] = [];

  const open = (more: object = {}) => openPage(browser, problems, more);
  const go = (place: string) => goTo(page, world.url, place);
  const seen = (text: string | RegExp) => page.getByText(text).first().waitFor();
  const item = (id: string) => page.getByRole('listitem').filter({ hasText: id });
  /** Clicks the button, and gives the reason that it requests. */
  const ask = async (button: Locator, label: string, why: string): Promise<void> => {
    await button.click();
    await page.getByLabel('Why').fill(why);
    await page.getByRole('dialog').getByRole('button', { name: label }).click();
  };
  /** The serious findings of axe on a page that was opened with `bypassCSP`: the rule, and the first element that breaks it. */
  const seriousOn = async (own: Page): Promise<readonly (readonly [id: string, html: string | undefined])[]> => {
    await own.evaluate(axe.source);
    const found = (await own.evaluate(`axe.run({ runOnly: ${JSON.stringify(AXE_TAGS)} })`)) as {
      readonly violations: readonly Violation[];
    };
    const serious = found.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    return serious.map(({ id, nodes }) => [id, nodes[0]?.html]);
  };
  /** Each view, and what a row of it opens. */
  const everyPlace = (): readonly string[] => [
    ...['inbox', 'fleet', 'cases', 'tasks', 'breakers', 'alerts', 'dead-letters', 'policies', 'replay'],
    ...world.replays.all().map(({ replayId }) => `replay/${replayId}`),
    ...[41, 130].map((index) => `fleet/${world.rows.agents[index]?.agentId}`),
    ...[21, 130].map((index) => `tasks/${world.rows.agents[index]?.taskId}`),
    ...[`cases/${world.rows.cases[0]?.caseId}`, 'policies/vigil'],
  ];
  /** The newest: the log has them by partition. */
  const lastCommand = (topic: TopicName) =>
    world
      .written(topic)
      .toSorted((one, other) => one.occurredAt - other.occurredAt)
      .at(-1);

  beforeAll(async () => {
    browser = await openBrowser(executable ?? '');
    world = await openWorld(200);
    startReplays(world);
    page = await open();
    await page.goto(await world.loginAddress());
  });
  afterAll(async () => {
    await browser?.close();
    await world?.[Symbol.asyncDispose]();
  });

  test('a login address logs one browser in, in a cookie that no script reads', async () => {
    const [own, other] = [await open(), await open()];
    await own.goto(world.url);
    await own
      .getByText(/open the link that `vigil login` or `npm start` prints/i)
      .first()
      .waitFor();
    const address = await world.loginAddress();
    await own.goto(address);
    await own.getByText('ada (operator)').waitFor();
    expect(await own.evaluate('document.cookie')).toBe('');
    expect((await other.goto(address))?.status()).toBe(410);
    for (const one of [own, other]) await one.close();
  });

  test("the page has the dashboard's security policy: no script runs that is not a file of the page", async () => {
    const own = await browser.newPage();
    const answer = await own.goto(await world.loginAddress());
    expect(answer?.headers()['content-security-policy']).toContain("script-src 'self'");
    const broken = own.evaluate(`new Promise((resolve) => {
      addEventListener('securitypolicyviolation', ({ effectiveDirective }) => resolve(effectiveDirective));
      const script = document.createElement('script');
      script.textContent = 'window.hacked = 1';
      document.body.append(script);
    })`);
    expect(await broken).toMatch(/^script-src/);
    expect(await own.evaluate('window.hacked')).toBeUndefined();
    await own.close();
  });

  test('the inbox has what waits for a person: the question, the time left, what happens then, and the answers', async () => {
    await go('inbox');
    const [first] = world.rows.cases.filter(({ waiting }) => waiting);
    const one = item(`case/${first?.caseId}`);
    await one.getByText('Two nudges had no answer').waitFor();
    await one.getByText(/then terminate/).waitFor();
    await one
      .locator('.left')
      .getByText(/^\d+ min( \d+ s)?$/)
      .waitFor();
    await one.getByRole('button', { name: 'Terminate and recover' }).waitFor();
  });

  test('an answer is one command in the log; its button shows as asked until the outcome is there', async () => {
    await go('inbox');
    world.state.outcome = [];
    const [first] = world.rows.cases.filter(({ waiting }) => waiting);
    const one = item(`case/${first?.caseId}`);
    await ask(one.getByRole('button', { name: 'Pardon' }), 'Pardon', 'it works again');
    const asked = one.getByRole('button', { name: 'Pardon: asked' });
    await asked.waitFor();
    expect(await asked.isDisabled()).toBe(true);
    await expect.poll(() => world.written(Topic.decideCase).length, { timeout: WAIT_MS }).toBe(1);
    expect(lastCommand(Topic.decideCase)).toMatchObject({
      type: 'DECIDE_CASE',
      payload: { caseId: first?.caseId, decision: 'pardon', by: 'ada (page)', why: 'it works again' },
    });
    world.rows.cases = world.rows.cases.map((row) =>
      row.caseId === first?.caseId ? { ...row, waiting: false, closedAt: Date.now(), ending: 'pardoned' } : row,
    );
    world.state.outcome = [
      caused('ESCALATION_DECIDED', { by: 'ada (page)', decision: 'pardon', why: 'it works again' }),
      caused('CASE_CLOSED', { ending: 'pardoned', why: null }),
    ];
    await page.getByLabel('Commands of this page').getByText('case closed as pardoned').waitFor();
    await one.waitFor({ state: 'detached' });
  });

  test('a request of an agent has its deadline, and is allowed from the inbox', async () => {
    await go('inbox');
    world.state.outcome = [];
    const one = item('request/rq-5d20e1');
    await one.getByText('git push --force-with-lease').waitFor();
    await one.getByText(/then no decision, so an interactive client keeps its dialog/).waitFor();
    const left = one.locator('.left');
    const before = await left.textContent();
    await expect.poll(() => left.textContent(), { timeout: WAIT_MS }).not.toBe(before);
    // An answer to a request needs no reason.
    await one.getByRole('button', { name: 'Allow' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Allow' }).click();
    await one.getByRole('button', { name: 'Allow: asked' }).waitFor();
    await expect.poll(() => world.written(Topic.handleRequest).length, { timeout: WAIT_MS }).toBe(1);
    expect(lastCommand(Topic.handleRequest)).toMatchObject({
      type: 'ANSWER_REQUEST',
      payload: { requestId: 'rq-5d20e1', option: 'allow', by: 'ada (page)', why: 'answered on the page' },
    });
    world.answerRequest('rq-5d20e1', 'allow', 'ada (page)');
    world.state.outcome = [caused('REQUEST_ANSWERED', { requestId: 'rq-5d20e1', option: 'allow', by: 'ada (page)' })];
    await page.getByLabel('Commands of this page').getByText('ada (page) answered allow').waitFor();
    await one.waitFor({ state: 'detached' });
  });

  test('a second answer to a request shows why it is refused, at once or by its outcome', async () => {
    await go('inbox');
    // Another place has answered, and this page has not read that yet.
    world.answerRequest('rq-1b7f03', 'deny', 'grace');
    const known = item('request/rq-1b7f03');
    await known.getByText(/then its policy allows it/).waitFor();
    await ask(known.getByRole('button', { name: 'Allow' }), 'Allow', 'a look');
    await seen(/grace has answered deny: the first answer decides/);
    await known.waitFor({ state: 'detached' });
    expect(world.written(Topic.handleRequest).length).toBe(1);

    const question = item('request/rq-90c4b7');
    for (const name of ['Keep 0042_add_currency', 'Keep 0043_rename_amount', 'Write a third migration'])
      await question.getByRole('button', { name }).waitFor();
    world.state.outcome = [caused('ANSWER_REFUSED', { reason: 'answered', detail: 'grace has answered option-2' })];
    const label = 'Write a third migration';
    await ask(question.getByRole('button', { name: label }), label, 'neither fits');
    await seen(/grace has answered option-2/);
    expect(lastCommand(Topic.handleRequest)).toMatchObject({ payload: { requestId: 'rq-90c4b7', option: 'option-3' } });
    for (const text of ['grace has answered deny', 'grace has answered option-2'])
      await item(text)
        .getByRole('button', { name: /^Dismiss/ })
        .click();
  });

  test('several questions are answered by the keyboard alone, with other words', async () => {
    await go('inbox');
    world.state.outcome = [];
    const one = item('request/rq-7a41d2');
    const form = one.getByRole('form', { name: 'Answer to request/rq-7a41d2' });
    await form.getByRole('button', { name: 'Answer' }).press('Enter');
    await form.getByRole('alert').getByText('"Cache" has no answer').waitFor();
    await form.getByRole('radio', { name: 'Redis' }).press('Space');
    const [other, ofChecks] = [form.getByLabel('Other').first(), form.getByLabel('Other').last()];
    await other.pressSequentially('Valkey');
    expect(await form.getByRole('radio', { name: 'Redis' }).isChecked()).toBe(false);
    await form.getByRole('checkbox', { name: 'Unit tests' }).press('Space');
    await form.getByRole('checkbox', { name: 'Licences' }).press('Space');
    await ofChecks.pressSequentially('a dry run');
    await ofChecks.press('Enter');
    await page.getByRole('dialog').getByText('Cache: "Valkey"; Checks: Unit tests, Licences, "a dry run"').waitFor();
    await page.getByLabel('Why').pressSequentially('as agreed');
    await page.getByLabel('Why').press('Enter');
    await expect
      .poll(() => lastCommand(Topic.handleRequest), { timeout: WAIT_MS })
      .toMatchObject({
        type: 'ANSWER_REQUEST',
        payload: {
          ...{ requestId: 'rq-7a41d2', by: 'ada (page)', why: 'as agreed' },
          answers: [
            { question: 'Cache', labels: [], text: 'Valkey' },
            { question: 'Checks', labels: ['Unit tests', 'Licences'], text: 'a dry run' },
          ],
        },
      });
    world.answerRequest('rq-7a41d2', 'Cache: "Valkey"', 'ada (page)');
    world.state.outcome = [caused('REQUEST_ANSWERED', { option: 'Cache: "Valkey"', by: 'ada (page)' })];
    await one.waitFor({ state: 'detached' });
  });

  test('an alert is resolved and silenced, a silence is ended, and a channel is tested', async () => {
    await go('alerts');
    const row = page.getByRole('row').filter({ hasText: 'Recovery failed' });
    const agentId = world.rows.agents[130]?.agentId;
    const silence = page.getByRole('region', { name: 'Silences' }).getByRole('row').filter({ hasText: 'grace' });
    const cases = [
      [row, 'Resolve', 'RESOLVE_ALERT', { alertKey: 'stuck_agent:OMN-4230' }],
      [row, 'Silence', 'SILENCE_ALERTS', { silenceId: '', matchers: [{ field: 'agentId', value: agentId }] }],
      [silence, 'End silence', 'SILENCE_ALERTS', { silenceId: 'si-7' }],
      [page.locator('main'), 'Test slack', 'TEST_CHANNEL', { channel: 'slack' }],
    ] as const;
    for (const [at, [place, label, type, payload]] of cases.entries()) {
      world.state.outcome = [caused('ALERT_RESOLVED', { text: `done: ${label}` })];
      await ask(place.getByRole('button', { name: label, exact: true }), label, 'the shift ends');
      await seen(`alert resolved: done: ${label}`);
      expect(world.written(Topic.controlAlerts).length).toBe(at + 1);
      expect(lastCommand(Topic.controlAlerts)).toMatchObject({ type, payload: { ...payload, why: 'the shift ends' } });
    }
  });

  test('the fleet has a cell for each agent, and finds by words', async () => {
    await go('fleet');
    await seen('191 of 200 agents');
    const stuck = world.rows.agents[41];
    await page.keyboard.press('/');
    await page.keyboard.type(stuck?.taskId ?? '');
    await seen('1 of 200 agents');
    await page
      .getByRole('link', { name: stuck?.agentId ?? '' })
      .first()
      .click();
    await page.getByRole('heading', { level: 1, name: stuck?.agentId ?? '' }).waitFor();
  });

  test('the cells are in the order that Sort has, and a button shows the agents of one state alone', async () => {
    await go('fleet');
    await page.getByRole('searchbox').fill('');
    const cells = page.getByRole('list', { name: 'Agents' }).getByRole('link');
    const first = async (): Promise<readonly string[]> => (await cells.locator('.name').allTextContents()).slice(0, 20);
    const { compare } = new Intl.Collator('en', { numeric: true });
    const byName = world.rows.agents
      .filter(({ state, unhealthy }) => state !== 'TERMINATED' || unhealthy)
      .toSorted((one, other) => compare(one.agentId, other.agentId));
    type Agent = (typeof byName)[number];
    const byText = (one: string | null, other: string | null): number =>
      Number(one === null) - Number(other === null) || compare(one ?? '', other ?? '');
    const orders: Readonly<Record<string, (one: Agent, other: Agent) => number>> = {
      Name: () => 0,
      'Changed last': (one, other) => (other.since ?? 0) - (one.since ?? 0),
      Task: (one, other) => byText(one.taskId, other.taskId),
      Host: (one, other) => byText(one.host, other.host),
    };
    const seenOrders = new Set<string>();
    for (const [label, order] of Object.entries(orders)) {
      await page.getByLabel('Sort').selectOption(label);
      const names = byName.toSorted(order).map(({ agentId }) => agentId);
      await expect.poll(first, { timeout: WAIT_MS }).toEqual(names.slice(0, 20));
      seenOrders.add(names.join());
    }
    expect(seenOrders.size).toBe(4);
    await page.getByLabel('Sort').selectOption('What needs people');
    await cells
      .first()
      .getByText(/ · asks · /)
      .waitFor();

    const states = page.getByRole('group', { name: 'Agents by state' });
    for (const state of ['STUCK', 'TERMINATED'] as const) {
      const count = world.rows.agents.filter((one) => one.state === state).length;
      const chip = states.getByRole('button', { name: `${count} ${state.toLowerCase()}`, exact: true });
      expect([count > 1, await chip.getAttribute('aria-pressed')]).toEqual([true, 'false']);
      await chip.press('Enter');
      await seen(`${count} of 200 agents`);
      expect(await chip.getAttribute('aria-pressed')).toBe('true');
      for (const text of await cells.locator('.detail').allTextContents()) expect(text).toContain(state);
      await chip.click();
      await seen('191 of 200 agents');
      expect(await chip.getAttribute('aria-pressed')).toBe('false');
    }
  });

  test('a policy is compared with another one: each setting that differs, with both values', async () => {
    await go('policies/vigil');
    const other = page.getByLabel('Compare with');
    await other.getByRole('option').nth(2).waitFor({ state: 'attached' });
    expect(await other.getByRole('option').allTextContents()).toEqual(['no other policy', 'coditect', 'night']);
    const shown = async (name: string): Promise<readonly (readonly string[])[]> => {
      const table = page.getByRole('table', { name: `Differences from ${name}` });
      await table.waitFor();
      const rows = await table.getByRole('row').all();
      return Promise.all(rows.map((row) => row.locator('th, td').allTextContents()));
    };
    await other.selectOption('coditect');
    expect(await shown('coditect')).toEqual([
      ['Setting', 'In coditect', 'Here'],
      ['policy', 'coditect', 'vigil'],
      ['signals.context.above', '80', '85'],
      ['signals.no_calls.after', '10 min', '6 min'],
      ['signals.repeated_call.times', 'not set', '8'],
    ]);
    await other.selectOption('night');
    expect((await shown('night')).slice(1)).toEqual([['policy', 'night', 'vigil']]);
    expect(await page.getByRole('table').count()).toBe(1);
    await other.selectOption('no other policy');
    await page.getByRole('table').waitFor({ state: 'detached' });
  });

  test('each cell of the fleet has the state of its agent as a word and in its title; on a blind page, as it was', async () => {
    await go('fleet');
    await page.getByRole('searchbox').fill('');
    const cells = page.getByRole('list', { name: 'Agents' }).getByRole('link');
    const states = 'HEALTHY|DEGRADED|STUCK|FAILING|UNKNOWN|TERMINATED';
    const stuck = cells.filter({ hasText: world.rows.agents[41]?.agentId ?? '' });
    const areAll = async (word: RegExp): Promise<void> => {
      await stuck.first().getByText(word).waitFor();
      const texts = await cells.locator('.detail').allTextContents();
      const titles = await cells.evaluateAll((all) => all.map((one) => one.getAttribute('title') ?? ''));
      expect(texts.length).toBeGreaterThan(20);
      for (const text of texts) expect(text).toMatch(word);
      for (const title of titles) expect(title.replace(/^.*?: /, '')).toMatch(word);
    };
    await areAll(new RegExp(`^(?:${states})\\b`));
    await cells
      .getByText(/^\w+ · asks · /)
      .first()
      .waitFor();
    const targets = page.getByLabel('Targets');
    await targets.locator('.met, .bad').first().waitFor();
    world.state.knowledge = { upTo: Date.now() - 9000, blindSince: Date.now() - 9000, away: [] };
    await seen(/^BLIND since/);
    await areAll(new RegExp(`^was (?:${states})\\b`));
    await targets.getByText(/^was [\d,]+$/).waitFor();
    expect(await targets.locator('.met, .bad').count()).toBe(0);
    world.state.knowledge = null;
    await seen(/^current, /);
  });

  test('on a phone, cells are on the first screen of the fleet, and what holds it is in the first line', async () => {
    const own = await open({ viewport: { width: 360, height: 740 } });
    await own.goto(await world.loginAddress());
    const before = world.rows.fleet;
    world.rows.fleet = { ...before, halted: true, haltBy: 'ada', haltWhy: 'a test', braked: true, brakeScope: 'fleet' };
    world.change(['fleet', 'fleet']);
    await goTo(own, world.url, 'fleet');
    const head = own.getByRole('banner');
    const top = async (one: Locator): Promise<number> => (await one.boundingBox())?.y ?? Number.NaN;
    for (const hold of ['HALTED', 'BRAKE']) {
      await head.getByText(hold, { exact: true }).waitFor();
      expect(await top(head.getByText(hold, { exact: true }))).toBeLessThan(30);
    }
    world.rows.fleet = before;
    world.change(['fleet', 'fleet']);
    await head.getByText('HALTED').waitFor({ state: 'detached' });
    const cell = own.locator('.cell').first();
    await cell.waitFor();
    const targets = own.getByLabel('Targets').locator('div');
    await targets.nth(7).waitFor();
    expect((await top(cell)) + 40).toBeLessThan(740);
    expect(await top(targets.first())).toBeGreaterThan(await top(own.locator('.cell').last()));
    // Two in each row.
    expect(await top(targets.nth(1))).toBe(await top(targets.nth(0)));
    expect(await top(targets.nth(2))).toBeGreaterThan(await top(targets.nth(1)));
    await own.close();
  });

  test('the page of a decision link has the words of its choice and its own style, within its security policy', async () => {
    const request = world.rows.requests.find(({ requestId }) => requestId === 'rq-90c4b7');
    const link = await signLink(LINK_KEY, {
      ...{ kind: 'answer_request', subject: 'rq-90c4b7', decision: 'option-3', channel: 'ops' },
      ...{ deadlineAt: request?.deadlineAt ?? null, sentAt: Date.now() },
    });
    const own = await open({ viewport: { width: 360, height: 740 } });
    await own.goto(`${world.url}/v1/decision?link=${link}`);
    await own.getByRole('heading', { name: 'Answer Write a third migration?' }).waitFor();
    const button = own.getByRole('button', { name: 'Answer Write a third migration' });
    expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(44);
    expect(await own.evaluate('document.documentElement.scrollWidth')).toBe(360);
    await own.close();
  });

  test('a change is on the page without a reload, and a lost stream loses none', async () => {
    await go('fleet');
    await page.getByRole('searchbox').fill('');
    const agentId = world.rows.agents[60]?.agentId ?? '';
    const latest = page.getByRole('region', { name: 'Changed lately' }).getByRole('listitem').first();
    world.changeAgent(agentId, { state: 'FAILING', since: Date.now() });
    await latest.getByText(agentId).waitFor();
    await latest.getByText('FAILING').waitFor();
    world.dropStreams();
    // The change happens while there is no stream.
    world.changeAgent(agentId, { state: 'HEALTHY', since: Date.now() });
    await latest.getByText('HEALTHY').waitFor();
    await expect.poll(() => world.streams.size, { timeout: WAIT_MS }).toBe(1);
  });

  test('what changes before, during and after a lost stream is on the page once each', async () => {
    await go('alerts');
    const alerts = page.getByRole('table', { name: 'Alerts' });
    const [first] = world.rows.alerts;
    if (first === undefined) throw new Error('the world has no alert');
    await alerts.getByText('Recovery failed').first().waitFor();
    const before = await alerts.getByRole('row').count();
    const raise = (title: string): void => {
      world.rows.alerts = [...world.rows.alerts, { ...first, alertId: title, title }];
      world.change(['alerts', title]);
    };
    raise('before it');
    await alerts.getByText('before it').waitFor();
    world.dropStreams();
    raise('without a stream');
    await alerts.getByText('without a stream').waitFor();
    raise('after it');
    await alerts.getByText('after it').waitFor();
    const titles = ['before it', 'without a stream', 'after it'];
    const counts = await Promise.all(titles.map((title) => alerts.getByText(title, { exact: true }).count()));
    expect([...counts, await alerts.getByRole('row').count()]).toEqual([1, 1, 1, before + 3]);
    world.rows.alerts = world.rows.alerts.filter(({ alertId }) => !titles.includes(alertId));
    world.change(['alerts', 'all of them']);
  });

  test.each([
    ['cases', 'waits for you'],
    ['tasks', 'review required'],
    ['breakers', 'tool_execution'],
    ['alerts', 'Recovery failed: 3 of 3 attempts used'],
    ['alerts', 'waits again: a ticket came after ada acknowledged it'],
    ['dead-letters', 'schema 412 is not registered (UnknownSchemaId)'],
    ['policies', 'no terminations while people are away'],
  ])('the view %s shows its rows', async (view, text) => {
    await go(view);
    await seen(text);
  });

  test('below the first page of a list is that older rows exist; they are shown on request, also after a change', async () => {
    const { cases, alerts, deadLetters } = world.rows;
    const copies = <Row>([first]: readonly Row[], count: number, id: keyof Row): Row[] =>
      Array.from({ length: count }, (_, n) => ({ ...(first as Row), [id]: `copy-${1000 + n}` }));
    world.rows.cases = copies(cases, 1050, 'caseId');
    world.rows.alerts = copies(alerts, 1050, 'alertId').map((one) => ({ ...one, title: one.alertId }));
    world.rows.deadLetters = copies(deadLetters, 150, 'eventId').map((one) => ({ ...one, reason: one.eventId }));
    const lists = [
      ['cases', 'Cases', 1000, 200, '850 more'],
      ['alerts', 'Alerts', 1000, 200, '850 more'],
      ['dead-letters', 'Dead letters', 100, 150, null],
    ] as const;
    for (const [place, label, first, shown, rest] of lists) {
      const table = place.replace('-', '_');
      await go(place);
      world.change([table, 'all of them']);
      const rows = page.getByRole('table', { name: label }).getByRole('row');
      const more = page.getByText(`There are older ones than these ${first}.`);
      await more.waitFor();
      // With the row of titles.
      expect(await rows.count()).toBe(101);
      await page.getByRole('button', { name: 'Older ones' }).click();
      await more.waitFor({ state: 'detached' });
      const buttons = page.locator('#view .button.more, #view p .button');
      expect([await rows.count(), await buttons.allTextContents()]).toEqual([shown + 1, rest === null ? [] : [rest]]);
      world.change([table, 'again']);
      await page.waitForResponse((response) => response.url().includes(`/v1/${place}?cursor=`) && response.ok());
      expect(await rows.count()).toBe(shown + 1);
    }
    Object.assign(world.rows, { cases, alerts, deadLetters });
    for (const [place] of lists) world.change([place.replace('-', '_'), 'as before']);
  });

  test('the tasks that wait for a person can be shown alone: each one in review or blocked, with its reason', async () => {
    const index = 33;
    const before = world.rows.tasks;
    const blocked = { blockedReason: 'agent stalled 3 times', blockedAt: 1, blockedAlertId: 'a-blocked' };
    world.rows.tasks = before.map((task, at) => (at === index ? { ...task, ...blocked } : task));
    world.change(['tasks', before[index]?.taskId ?? '']);
    await go('tasks');
    const rows = page.getByRole('table', { name: 'Tasks' }).getByRole('row');
    await seen('2 of 200 tasks wait for a person');
    expect(await rows.count()).toBeGreaterThan(3);
    await page.getByLabel('Waits for a person').check();
    await seen('BLOCKED: agent stalled 3 times');
    const texts = await rows.allTextContents();
    expect(texts.length).toBe(3);
    expect(texts.join()).toContain('3 of 3 attempts used');
    expect(await page.getByRole('button', { name: 'Acknowledge' }).count()).toBe(1);
    world.rows.tasks = before;
    world.change(['tasks', before[index]?.taskId ?? '']);
  });

  test('an agent has its states over time, its figures with their limits in words, and its last output', async () => {
    await go(`fleet/${world.rows.agents[41]?.agentId}`);
    await seen(/4 changes of state in the last/);
    await seen(/\d+ calls, \d+ of them failed, and [1-9]\d* compactions?\./);
    await seen(/no_calls: no call for 9 min 2 s; limit 6 min; fires since/);
    await go(`fleet/${world.rows.agents[3]?.agentId}`);
    await seen('refunds a partial payment once');
  });

  test('each signal with a figure has a strip over the time of the timeline, those nearest to their limit first', async () => {
    await go(`fleet/${world.rows.agents[41]?.agentId}`);
    const strips = page.getByLabel('Signals over the same time').getByRole('figure');
    await strips.nth(4).locator('canvas').waitFor();
    const captions = await strips.locator('figcaption').allTextContents();
    expect(captions.map((text) => text.split(':')[0])).toEqual([
      ...['no_calls', 'context', 'repeated_call', 'no_output', 'cost'],
    ]);
    expect(captions[0]).toMatch(/^no_calls: no call for 9 min 2 s; limit 6 min; fires since /);
    expect(await strips.first().locator('.lane-name').textContent()).toBe('9 min 2 sof 6 min');
    const edges = async (selector: string) => {
      const box = await page.locator(selector).first().boundingBox();
      return box === null ? null : [Math.round(box.x), Math.round(box.x + box.width)];
    };
    expect(await edges('.strip .u-over')).toEqual(await edges('.timeline .ribbon'));
    await page.getByRole('table', { name: 'Signals' }).getByText('212,400 tokens; limit 2,000,000').waitFor();
  });

  test('the figures of a busy agent are on its timeline, and are text that the keyboard reaches', async () => {
    await go(`fleet/${world.rows.agents[17]?.agentId}`);
    await seen(/^1 change of state in the last .* The newest 500 calls, \d+ of them failed; older ones are not drawn/);
    expect(await page.locator('.mark-signals').count()).toBe(1);
    const changes = page.getByRole('table', { name: 'Changes of state' });
    await changes.getByText('failing_calls: 14 calls failed in a row; limit 8').waitFor();
    await page.getByText('Calls and compactions (500)').press('Enter');
    await page.getByRole('table', { name: 'Calls and compactions' }).getByText('call of Bash').first().waitFor();
    await go(`fleet/${world.rows.agents[41]?.agentId}`);
    for (const words of ['context: context 88 %; limit 85 %', 'no_calls: no call for 4 min; limit 4 min'])
      await changes.getByText(words).waitFor();
    await page.getByText(/^Calls and compactions/).press('Enter');
    await page.getByText('compaction: context from 176,000 to 82,000 of 200,000 tokens').waitFor();
  });

  test('a hold is asked for with its length, and a refusal stays with its reason', async () => {
    const agentId = world.rows.agents[10]?.agentId ?? '';
    await go(`fleet/${agentId}`);
    world.state.outcome = [
      caused('STEP_SKIPPED', { step: 'hold', why: 'halted', detail: 'the fleet is halted by root' }),
    ];
    const before = Date.now();
    await page.getByRole('button', { name: 'Hold' }).click();
    await page.getByLabel('For').selectOption('4 hours');
    await page.getByRole('dialog').getByRole('button', { name: 'Hold' }).click();
    expect(await page.getByLabel('Why').evaluate((field) => field.matches(':invalid'))).toBe(true);
    await page.getByLabel('Why').fill('a look');
    await page.getByRole('dialog').getByRole('button', { name: 'Hold' }).click();
    await seen(/: the fleet is halted by root/);
    expect(lastCommand(Topic.controlAgent)).toMatchObject({
      type: 'HOLD_AGENT',
      payload: { agentId, by: 'ada (page)', why: 'a look', until: expect.toSatisfy((at) => at >= before + 14_400_000) },
    });
    await page.getByRole('button', { name: 'Dismiss: Hold' }).click();
  });

  test('without a requested operator review the page has no footer, and q opens nothing', async () => {
    const { tickets } = world.rows;
    world.rows.tickets = tickets.map((one) => (one.answer === 'intervene' ? { ...one, answer: 'dismissed' } : one));
    await go('policies');
    world.change(['tickets', 'tk-20c4']);
    await page.locator('footer').waitFor({ state: 'detached' });
    await page.keyboard.press('q');
    await go('fleet');
    expect(await page.locator('footer').count()).toBe(0);
    world.rows.tickets = tickets;
    world.change(['tickets', 'tk-20c4']);
    await page.locator('footer').getByText('operator review of').waitFor();
  });

  test('the operator review is shown on every view; q opens its agent', async () => {
    world.rows.tickets = world.rows.tickets.map((one) =>
      one.answer === 'intervene' ? { ...one, filedAt: Date.now(), answeredAt: Date.now() } : one,
    );
    await go('policies');
    world.change(['tickets', 'tk-20c4']);
    await seen('judge: high ticket');
    const notice = page.getByRole('alert').filter({ hasText: 'kubectl get pods' });
    await notice.getByRole('button', { name: 'Dismiss' }).click();
    await notice.waitFor({ state: 'detached' });
    await page.keyboard.press('q');
    await page.getByRole('heading', { level: 1, name: world.rows.agents[41]?.agentId ?? '' }).waitFor();
  });

  test('a blind page shows no state as current, and its answers have a note; it recovers by itself', async () => {
    await go(`fleet/${world.rows.agents[41]?.agentId}`);
    await page.getByText('STUCK', { exact: true }).first().waitFor();
    world.state.knowledge = {
      ...{ upTo: Date.now() - 9000, blindSince: Date.now() - 9000 },
      away: [{ part: 'projector', since: Date.now() - 9000, detail: 'ECONNREFUSED' }],
    };
    await seen(/^BLIND since/);
    await page.getByText('was STUCK', { exact: true }).first().waitFor();
    await seen(/projector since .*: ECONNREFUSED/);
    const caption = page.locator('.timeline figcaption');
    await caption.getByText(/4 changes of state in the last .*; was STUCK at \d\d:\d\d:\d\d\./).waitFor();
    const edge = async (selector: string): Promise<number> => {
      const box = await page.locator(selector).last().boundingBox();
      return box === null ? Number.NaN : box.x + box.width;
    };
    expect(await edge('.timeline .segment')).toBeLessThan(await edge('.timeline .ribbon'));
    await page
      .locator('.title')
      .getByText(/^at \d\d:\d\d:\d\d$/)
      .waitFor();
    for (const figures of [page.locator('.strips'), page.getByRole('table', { name: 'Signals' })]) {
      await figures
        .getByText(/was firing at \d\d:\d\d:\d\d/)
        .first()
        .waitFor();
      expect(await figures.getByText(/fires (in|since)/).count()).toBe(0);
    }
    const nudge = page.getByRole('button', { name: 'Nudge' });
    expect(await nudge.isEnabled()).toBe(true);
    expect(await nudge.getAttribute('title')).toMatch(/^The shown state may be old/);
    await go('alerts');
    const alerts = page.getByRole('table', { name: 'Alerts' });
    await alerts.getByText('was open', { exact: true }).first().waitFor();
    expect(await alerts.getByText(/^(open|waits again)/).count()).toBe(0);
    await go('breakers');
    const breakers = page.getByRole('table', { name: 'Breakers' });
    await breakers.getByText('was open', { exact: true }).first().waitFor();
    expect(await breakers.getByText(/^(open|half open|closed|in \d+ .*)$/).count()).toBe(0);
    await go('cases');
    await page.getByText('was waiting for you').first().waitFor();
    await go(`fleet/${world.rows.agents[41]?.agentId}`);
    world.state.knowledge = null;
    await page.getByText('STUCK', { exact: true }).first().waitFor();
    await page
      .locator('.timeline figcaption')
      .getByText(/; STUCK since /)
      .waitFor();
    world.state.isSilent = true;
    await seen(/^BLIND since/);
    world.state.isSilent = false;
    await seen(/^current, /);
  });

  test('a viewer sees no button that sends a command, and a command that is sent anyway is refused', async () => {
    world.state.role = 'viewer';
    await page.reload();
    await go(`fleet/${world.rows.agents[41]?.agentId}`);
    await seen('ada (viewer)');
    await page.getByText('STUCK', { exact: true }).first().waitFor();
    expect(await page.getByRole('button', { name: 'Nudge' }).count()).toBe(0);
    const status = await page.evaluate(`fetch('/v1/commands', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ kind: 'halt', by: 'page', why: 'a try' }),
    }).then(({ status }) => status)`);
    expect(status).toBe(403);
    expect(world.written(Topic.controlFleet)).toEqual([]);
    world.state.role = 'operator';
  });

  test('what an agent writes is text: it neither runs nor becomes part of the page', async () => {
    const hostile = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';
    const agentId = world.rows.agents[11]?.agentId ?? '';
    world.changeAgent(agentId, {
      ...{ state: 'STUCK', reason: hostile, phase: hostile, tail: [hostile, '\u001b]0;title\u0007\u202Eevil'] },
      labels: { [hostile]: 'javascript:window.hacked=1' },
      waitingFor: { kind: 'question', text: hostile, since: null },
    });
    await go(`fleet/${agentId}`);
    await page.reload();
    await seen(hostile);
    await go('inbox');
    await seen(hostile);
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await page.locator('main img, main script').count()).toBe(0);
  });

  test.each([
    ...[
      ['dark', 1440],
      ['dark', 360],
    ],
    ...[
      ['light', 1440],
      ['light', 360],
    ],
  ] as const)('no view has a serious finding of axe in %s at %i pixels', async (colorScheme, width) => {
    const own = await open({ colorScheme, bypassCSP: true, viewport: { width, height: 900 } });
    await own.goto(await world.loginAddress());
    for (const place of everyPlace()) {
      await goTo(own, world.url, place);
      await own.locator(CONTENT).first().waitFor();
      expect([place, await seriousOn(own)]).toEqual([place, []]);
    }
    await own.close();
  });

  test.each([
    ...[
      ['dark', 1440],
      ['dark', 360],
    ],
    ...[
      ['light', 1440],
      ['light', 360],
    ],
  ] as const)(
    'the differences between two policies have no serious finding of axe in %s at %i pixels',
    async (colorScheme, width) => {
      const own = await open({ colorScheme, bypassCSP: true, viewport: { width, height: 900 } });
      await own.goto(await world.loginAddress());
      await goTo(own, world.url, 'policies/vigil');
      await own.getByLabel('Compare with').selectOption('coditect');
      await own.getByRole('table', { name: 'Differences from coditect' }).waitFor();
      expect(await seriousOn(own)).toEqual([]);
      const over = 'document.getElementById("view").scrollWidth - document.getElementById("view").clientWidth';
      expect(await own.evaluate(over)).toBe(0);
      await own.close();
    },
  );

  test('a case by hand has who requested it and why, and no state', async () => {
    const [first] = world.rows.cases;
    if (first === undefined) throw new Error('the world has no case');
    const byHand = {
      requestedBy: 'ada (page)',
      warrantId: null,
      evidence: [],
      note: 'too slow',
      state: 'UNKNOWN',
    } as const;
    // The ids of a real fleet are as long as these.
    world.rows.cases = [
      ...world.rows.cases,
      { ...first, ...byHand, caseId: 'case-0197a3f2-58c1-7b60-9d1e-3c5f0a7b2e44', planName: 'by hand: nudge' },
    ];
    await go('cases');
    world.change(['cases', 'by hand']);
    const row = page.getByRole('row').filter({ hasText: 'ada (page): too slow' });
    await row.getByText('by hand', { exact: true }).waitFor();
  });

  test.each([360, 768, 980, 1180, 1240, 1280, 1300, 1340, 1366, 1440, 1600, 1920, 2560])(
    'no view is wider than a screen of %i pixels',
    async (width) => {
      await page.setViewportSize({ width, height: 900 });
      for (const place of everyPlace()) {
        await go(place);
        await page.locator(CONTENT).first().waitFor();
        const over = 'document.getElementById("view").scrollWidth - document.getElementById("view").clientWidth';
        expect([place, await page.evaluate(over)]).toEqual([place, 0]);
      }
    },
  );

  test('the browser has reported no mistake, and no part of the page broke its own security policy', () => {
    expect(problems).toEqual([]);
  });
});
