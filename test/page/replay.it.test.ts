import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PRESETS } from '@vigil/policy';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { goTo, installedBrowser, openBrowser, openPage, WAIT_MS } from './browser.ts';
import { openWorld, type World } from './world-model.ts';

type Violation = {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string }[];
};

const executable = installedBrowser();
const DEMO = readFileSync(path.join(PRESETS, 'demo.yaml'), 'utf8');

describe.skipIf(executable === null)('the view Replay of the page', () => {
  let browser: Browser;
  let world: World;
  let page: Page;
  const problems: string[] = [];

  const go = (place: string) => goTo(page, world.url, place);
  const seen = (text: string | RegExp) => page.getByText(text).first().waitFor();
  const form = () => page.getByRole('form', { name: 'New replay' });
  const lastReplay = () => world.replays.all()[0];
  const nameOf = (index: number): string => world.rows.agents[index]?.agentId ?? '';

  beforeAll(async () => {
    browser = await openBrowser(executable ?? '');
    world = await openWorld(200);
    page = await openPage(browser, problems);
    await page.goto(await world.loginAddress());
  });
  beforeEach(() => {
    world.state.holdsReplays = false;
    world.state.role = 'operator';
  });
  afterAll(async () => {
    await browser?.close();
    await world?.[Symbol.asyncDispose]();
  });

  test('the keyboard alone opens the view and verifies the last hour; the result links to each agent at its difference', async () => {
    await go('inbox');
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await form().getByRole('radio', { name: 'Verify' }).focus();
    const before = Date.now();
    await page.keyboard.press('Enter');
    await seen('2 of 186 agents are judged differently now. 2,114 decisions about 186 agents are as recorded.');
    expect(lastReplay()).toMatchObject({ kind: 'verify', agentId: null, until: null, by: 'ada' });
    const { since = 0 } = lastReplay() ?? {};
    expect(Math.abs(before - 3_600_000 - (since ?? 0))).toBeLessThan(WAIT_MS);
    const row = page
      .getByRole('table', { name: 'Differences' })
      .getByRole('row')
      .filter({ hasText: nameOf(17) });
    await row.getByText('HEALTHY → FAILING: 14 calls failed in a row; limit 8').waitFor();
    await row.getByText('HEALTHY → STUCK: 14 calls failed in a row; limit 8').waitFor();
    await seen('Not compared, because they were known before the first stored observation');
    await row.getByRole('link', { name: nameOf(17) }).press('Enter');
    await page.getByRole('heading', { level: 1, name: nameOf(17) }).waitFor();
    await seen(/^The replay differs at \d\d:\d\d:\d\d\. /);
    expect(await page.locator('.mark-replay').count()).toBe(1);
  });

  test('a running replay shows how far it is, and is cancelled', async () => {
    world.state.holdsReplays = true;
    await go('replay');
    await form().getByRole('button', { name: 'Replay' }).click();
    await seen('running: 41,280 of 120,000 records, 34 %');
    expect(await page.getByRole('progressbar').getAttribute('value')).toBe('41280');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await seen('cancelled by ada');
    expect(lastReplay()).toMatchObject({ state: 'cancelled' });
  });

  test('a result that comes later is on the page without a reload', async () => {
    world.state.holdsReplays = true;
    await go('replay');
    await form().getByRole('button', { name: 'Replay' }).click();
    await seen(/^running: /);
    world.endReplays();
    await seen(/agents are judged differently now/);
  });

  test('a text of a policy is folded beside the recorded ones, with the first different act marked', async () => {
    await go('replay');
    await form().getByRole('radio', { name: 'What if' }).check();
    await form().getByRole('button', { name: 'Replay' }).click();
    await form().getByRole('alert').getByText('Choose the policy for the span.').waitFor();
    await form()
      .getByRole('combobox', { name: /^Policy/ })
      .selectOption('a text of my own');
    const text = form().getByLabel('Text of the policy');
    await text.fill(DEMO.replace('policy: demo', 'policy: *mine'));
    await form().getByRole('button', { name: 'Replay' }).click();
    await form().getByRole('alert').getByText('*mine is an alias without an anchor').waitFor();
    await text.fill(DEMO.replace('policy: demo', 'policy: mine'));
    await form()
      .getByRole('combobox', { name: /^Instead of/ })
      .selectOption('night');
    await form().getByRole('combobox', { name: /^Span/ }).selectOption('Everything stored');
    await form().getByLabel('Agent', { exact: true }).fill(nameOf(3));
    await form().getByRole('button', { name: 'Replay' }).click();
    await seen('103 of 186 agents are judged differently under mine, 2 with another act.');
    expect(lastReplay()).toMatchObject({ policyName: 'mine', insteadOf: 'night', since: null, agentId: nameOf(3) });
    const counts = page.getByRole('table', { name: 'Counts' }).getByRole('row').filter({ hasText: 'STUCK or FAILING' });
    expect(await counts.getByRole('cell').allTextContents()).toEqual(['Agents STUCK or FAILING', '3', '1']);
    const outcomes = page.getByRole('table', { name: `Outcomes of ${nameOf(3)}` }).getByRole('row');
    expect(await outcomes.filter({ hasText: 'first different act' }).count()).toBe(1);
    await outcomes
      .filter({ hasText: 'first different act' })
      .getByText('the plan for STUCK, FAILING begins: nudge')
      .waitFor();
    await seen('The comparison ends here.');
    await seen('100 more agents: replay one of them, or a shorter span.');
  });

  test('a copy of a published policy is edited, and its mistakes are shown beside the form', async () => {
    await go('replay');
    await form().getByRole('radio', { name: 'What if' }).check();
    await form()
      .getByRole('combobox', { name: /^Policy/ })
      .selectOption('night');
    await form().getByRole('button', { name: 'Edit a copy' }).click();
    const text = form().getByLabel('Text of the policy');
    await expect.poll(() => text.inputValue(), { timeout: WAIT_MS }).toContain('"policy": "night"');
    const count = world.replays.all().length;
    await form().getByRole('button', { name: 'Replay' }).click();
    await form().getByRole('alert').getByText('there is no signal context').waitFor();
    expect(await text.inputValue()).toContain('"policy": "night"');
    expect(world.replays.all()).toHaveLength(count);
  });

  test('the timeline of an agent reads its earlier figures from the log, and shows how far that is', async () => {
    world.state.holdsReplays = true;
    await go(`fleet/${nameOf(41)}`);
    const strips = page.getByRole('region', { name: 'Signals over the same time' });
    const read = strips.getByRole('button', { name: 'Read earlier figures' });
    await read.press('Enter');
    await strips.getByText('running: 41,280 of 120,000 records, 34 %').waitFor();
    expect(await read.isDisabled()).toBe(true);
    world.endReplays();
    await strips.getByText('Drawn from 412 observations of the log, at 5 moments.').waitFor();
    await expect.poll(() => read.isEnabled(), { timeout: WAIT_MS }).toBe(true);
    const { since, until, ...asked } = lastReplay() ?? {};
    expect(asked).toMatchObject({ kind: 'figures', agentId: nameOf(41), by: 'ada' });
    expect(Number(since)).toBeLessThan(Number(until));
    await go(`replay/${lastReplay()?.replayId}`);
    const rows = page.getByRole('table', { name: 'Signals in this span' }).getByRole('row');
    await expect
      .poll(() => rows.allTextContents(), { timeout: WAIT_MS })
      .toEqual([expect.stringContaining('Largest figure'), 'no_calls4 min6 min']);
  });

  test('an agent and a case lead to the form with their span', async () => {
    await go(`fleet/${nameOf(41)}`);
    await page.getByRole('link', { name: 'Replay this' }).click();
    await form().waitFor();
    expect(await form().getByLabel('Agent', { exact: true }).inputValue()).toBe(nameOf(41));
    expect(await form().getByLabel('From', { exact: true }).inputValue()).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);
    const [first] = world.rows.cases;
    await go(`cases/${first?.caseId}`);
    await page.getByRole('link', { name: 'Replay this' }).click();
    await form().getByRole('button', { name: 'Replay' }).click();
    await seen(/agents are judged differently now/);
    const from = Math.floor(((first?.openedAt ?? 0) - 3_600_000) / 1000) * 1000;
    expect(lastReplay()).toMatchObject({ agentId: first?.agentId, since: from });
  });

  test('an operator downloads the span of the form as a file', async () => {
    await go(`replay?agent=${nameOf(3)}`);
    await form().getByRole('combobox', { name: /^Span/ }).selectOption('Everything stored');
    const downloading = page.waitForEvent('download');
    await form().getByRole('link', { name: 'Export this span' }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe('vigil-span.ndjson.gz');
    const span = { from: null, to: null, agent: nameOf(3) };
    expect(JSON.parse(readFileSync(await download.path(), 'utf8'))).toEqual(span);
    await form().waitFor();
  });

  test('a viewer replays, and does not see how to end the replay of another person', async () => {
    world.state.role = 'viewer';
    world.state.holdsReplays = true;
    await page.reload();
    await go('replay');
    await seen('ada (viewer)');
    expect(await form().getByRole('link', { name: 'Export this span' }).count()).toBe(0);
    await form().getByRole('button', { name: 'Replay' }).click();
    await page.getByRole('button', { name: 'Cancel' }).waitFor();
    const span = { from: null, to: null, agent: null };
    const { replayId } = world.replays.start({ spec: { kind: 'verify', span }, policy: null, by: 'grace' });
    await go(`replay/${replayId}`);
    await page.getByRole('status').getByText('waiting', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
    world.endReplays();
    await seen(/^running: /);
    world.endReplays();
    await seen(/agents are judged differently now/);
  });

  test.each(['dark', 'light'] as const)(
    'the whole form has no serious finding of axe in %s, and is not wider than a screen of 360 pixels',
    async (colorScheme) => {
      const own = await openPage(browser, problems, { colorScheme, bypassCSP: true });
      await own.goto(await world.loginAddress());
      await own.setViewportSize({ width: 360, height: 900 });
      await goTo(own, world.url, `replay?agent=${nameOf(3)}&since=${Date.now() - 60_000}`);
      await own.getByRole('radio', { name: 'What if' }).check();
      await own.getByRole('combobox', { name: /^Policy/ }).selectOption('a text of my own');
      await own.getByLabel('Text of the policy').fill(DEMO);
      await own.evaluate(axe.source);
      const { violations } = (await own.evaluate('axe.run()')) as { readonly violations: readonly Violation[] };
      const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
      expect(serious.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
      const over = 'document.getElementById("view").scrollWidth - document.getElementById("view").clientWidth';
      expect(await own.evaluate(over)).toBe(0);
      await own.close();
    },
  );

  test('a replay that the dashboard has forgotten is not found, with the reason', async () => {
    await go('replay');
    await page.goto(`${world.url}/#/replay/nosuch`);
    await seen('the dashboard keeps them for an hour');
  });

  test('what an agent writes is text in a result, too', async () => {
    const hostile = '<img src=x onerror="window.hacked=1">';
    world.changeAgent(nameOf(17), { agentId: hostile });
    await go('replay');
    await form().getByRole('button', { name: 'Replay' }).click();
    await page.getByRole('link', { name: hostile }).waitFor();
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await page.locator('main img').count()).toBe(0);
  });

  test('the browser has reported no mistake', () => {
    expect(problems).toEqual([]);
  });
});
