import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installedBrowser, openBrowser } from './browser.ts';
import { openWorld, type World } from './world-model.ts';

/** A page that waits longer than this is broken; a busy machine needs a part of it. */
const WAIT_MS = 30_000;

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

describe.skipIf(executable === null)('the page in a browser', () => {
  let browser: Browser;
  let world: World;
  let page: Page;
  const problems: string[] = [];

  const open = async (more: object = {}): Promise<Page> => {
    const opened = await browser.newPage({ viewport: { width: 1440, height: 900 }, locale: 'en-US', ...more });
    opened.setDefaultTimeout(WAIT_MS);
    opened.on('pageerror', (error) => problems.push(error.message));
    // A lost connection is part of a test; anything else that the browser reports is a mistake.
    opened.on('console', (message) => {
      if (message.type() === 'error' && !/ERR_|Failed to load resource/.test(message.text()))
        problems.push(message.text());
    });
    return opened;
  };
  const go = (place: string) => page.goto(`${world.url}/#/${place}`);
  const seen = (text: string | RegExp) => page.getByText(text).first().waitFor();

  beforeAll(async () => {
    browser = await openBrowser(executable ?? '');
    world = await openWorld(200);
    page = await open();
  });
  afterAll(async () => {
    await browser?.close();
    await world?.[Symbol.asyncDispose]();
  });

  test('the inbox has what waits for a person: the question, the time left, what happens then, and the answers', async () => {
    await go('inbox');
    const [first] = world.rows.cases.filter(({ waiting }) => waiting);
    const item = page.getByRole('listitem').filter({ hasText: `case/${first?.caseId}` });
    await item.getByText('Two nudges had no answer').waitFor();
    await item.getByText(/then the plan continues/).waitFor();
    await item
      .locator('.left')
      .getByText(/^\d+ min( \d+ s)?$/)
      .waitFor();
    await item.getByRole('button', { name: 'Terminate and recover' }).waitFor();
  });

  test('an answer is one command; its button shows as asked until the outcome is there', async () => {
    await go('inbox');
    world.state.outcome = { outcome: 'pending', reason: null, events: [] };
    const [first] = world.rows.cases.filter(({ waiting }) => waiting);
    const item = page.getByRole('listitem').filter({ hasText: `case/${first?.caseId}` });
    await item.getByRole('button', { name: 'Pardon' }).click();
    await page.getByLabel('Why').fill('it works again');
    await page.getByRole('dialog').getByRole('button', { name: 'Pardon' }).click();
    const asked = item.getByRole('button', { name: 'Pardon: asked' });
    await asked.waitFor();
    expect(await asked.isDisabled()).toBe(true);
    expect(world.commands).toEqual([
      {
        ...{ kind: 'decide_case', caseId: first?.caseId, decision: 'pardon', askedAt: first?.escalationAt },
        ...{ by: 'page', why: 'it works again' },
      },
    ]);
    world.rows.cases = world.rows.cases.map((one) =>
      one.caseId === first?.caseId ? { ...one, waiting: false, closedAt: Date.now(), ending: 'pardoned' } : one,
    );
    world.state.outcome = {
      outcome: 'applied',
      reason: null,
      events: [{ type: 'CASE_CLOSED', payload: { ending: 'pardoned' } }],
    };
    await page.getByLabel('Commands of this page').getByText('case closed as pardoned').waitFor();
    await item.waitFor({ state: 'detached' });
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

  test.each([
    ['cases', 'waits for you'],
    ['tasks', 'review required'],
    ['breakers', 'tool_execution'],
    ['alerts', 'Recovery failed: 3 of 3 attempts used'],
    ['dead-letters', 'schema 412 is not registered (UnknownSchemaId)'],
    ['policies', 'no terminations while nobody is here'],
  ])('the view %s shows its rows', async (view, text) => {
    await go(view);
    await seen(text);
  });

  test('an agent has its states over time, its figures with their limits in words, and its last output', async () => {
    await go(`fleet/${world.rows.agents[41]?.agentId}`);
    await seen(/4 changes of state in the last/);
    await seen(/\d+ calls, \d+ of them failed, and 1 compaction\./);
    await seen(/no_calls: no call for 9 min 2 s; limit 6 min; fires since/);
    await page.locator('.chart canvas').waitFor();
    await go(`fleet/${world.rows.agents[3]?.agentId}`);
    await seen('refunds a partial payment once');
  });

  test('a hold is asked for with its length, and a refusal stays with its reason', async () => {
    const agentId = world.rows.agents[10]?.agentId ?? '';
    await go(`fleet/${agentId}`);
    world.state.outcome = { outcome: 'refused', reason: 'the fleet is halted by root', events: [] };
    await page.getByRole('button', { name: 'Hold' }).click();
    await page.getByLabel('For').selectOption('4 hours');
    await page.getByLabel('Why').fill('a look');
    await page.getByRole('dialog').getByRole('button', { name: 'Hold' }).click();
    await seen(': the fleet is halted by root');
    expect(world.commands.at(-1)).toEqual({ kind: 'hold', agentId, forMs: 14_400_000, by: 'page', why: 'a look' });
    await page.getByRole('button', { name: 'Dismiss: Hold' }).click();
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

  test('a blind page shows no state as current and takes no command; it recovers by itself', async () => {
    await go(`fleet/${world.rows.agents[41]?.agentId}`);
    await page.getByText('STUCK', { exact: true }).first().waitFor();
    world.state.knowledge = {
      ...{ upTo: Date.now() - 9000, blindSince: Date.now() - 9000 },
      away: [{ part: 'projector', since: Date.now() - 9000, detail: 'ECONNREFUSED' }],
    };
    await seen(/^BLIND since/);
    await page.getByText('was STUCK', { exact: true }).first().waitFor();
    await seen(/projector since .*: ECONNREFUSED/);
    expect(await page.getByRole('button', { name: 'Nudge' }).isDisabled()).toBe(true);
    world.state.knowledge = null;
    await page.getByText('STUCK', { exact: true }).first().waitFor();
    world.state.isSilent = true;
    await seen(/^BLIND since/);
    world.state.isSilent = false;
    await seen(/^current, /);
  });

  test('a viewer sees no button that sends a command', async () => {
    world.state.role = 'viewer';
    await page.reload();
    await go(`fleet/${world.rows.agents[41]?.agentId}`);
    await seen('ada (viewer)');
    await page.getByText('STUCK', { exact: true }).first().waitFor();
    expect(await page.getByRole('button', { name: 'Nudge' }).count()).toBe(0);
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
    await page.reload();
    await go(`fleet/${agentId}`);
    await seen(hostile);
    await go('inbox');
    await seen(hostile);
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await page.locator('main img, main script').count()).toBe(0);
  });

  test.each(['dark', 'light'] as const)('no view has a serious finding of axe in %s', async (colorScheme) => {
    const own = await open({ colorScheme, bypassCSP: true });
    const places = [
      'inbox',
      'fleet',
      `fleet/${world.rows.agents[41]?.agentId}`,
      'cases',
      'breakers',
      'alerts',
      'policies',
    ];
    for (const place of places) {
      await own.goto(`${world.url}/#/${place}`);
      await own.locator('main table, main ul, main ol, main .grid').first().waitFor();
      await own.evaluate(axe.source);
      const found = (await own.evaluate('axe.run()')) as { readonly violations: readonly Violation[] };
      const serious = found.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
      expect(serious.map(({ id, nodes }) => [place, id, nodes[0]?.html])).toEqual([]);
    }
    await own.close();
  });

  test.each([360, 768, 2560])('no view is wider than a screen of %i pixels', async (width) => {
    await page.setViewportSize({ width, height: 900 });
    for (const view of [
      'inbox',
      'fleet',
      `fleet/${world.rows.agents[41]?.agentId}`,
      'cases',
      'tasks',
      'alerts',
      'dead-letters',
    ]) {
      await go(view);
      await page.locator('main table, main ul, main ol, main .grid').first().waitFor();
      const over = 'document.getElementById("view").scrollWidth - document.getElementById("view").clientWidth';
      expect([view, await page.evaluate(over)]).toEqual([view, 0]);
    }
  });

  test('the keyboard alone opens views, help and agents', async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await go('inbox');
    await page.locator('main ul').first().waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('g');
    await page.keyboard.press('f');
    await page.locator('.cell').first().focus();
    const focused = () => page.evaluate('document.activeElement.dataset.index');
    await page.keyboard.press('ArrowRight');
    await expect.poll(focused, { timeout: WAIT_MS }).toBe('1');
    await page.keyboard.press('End');
    await expect.poll(focused, { timeout: WAIT_MS }).toMatch(/^1\d\d$/);
    const name = await page.evaluate('document.activeElement.querySelector(".name").textContent');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: String(name) }).waitFor();
  });

  test('the browser has reported no mistake, and no part of the page broke its own security policy', () => {
    expect(problems).toEqual([]);
  });
});
