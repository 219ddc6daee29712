import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { goTo, installedBrowser, openBrowser, openPage, WAIT_MS } from './browser.ts';
import { openWorld, type World } from './world-model.ts';

const executable = installedBrowser();

describe.skipIf(executable === null)('the keys, addresses and tabs of the page', () => {
  let browser: Browser;
  let world: World;
  let page: Page;
  const problems: string[] = [];

  const go = (place: string) => goTo(page, world.url, place);

  beforeAll(async () => {
    browser = await openBrowser(executable ?? '');
    world = await openWorld(200);
    page = await openPage(browser, problems);
    await page.goto(await world.loginAddress());
  });
  afterAll(async () => {
    await browser?.close();
    await world?.[Symbol.asyncDispose]();
  });

  test('words that are typed right after the key for the search are all in it, from any view', async () => {
    for (const from of ['inbox', 'policies', `fleet/${world.rows.agents[41]?.agentId}`]) {
      await go('fleet');
      await page.getByRole('searchbox').fill('');
      await go(from);
      await page.keyboard.press('/');
      await page.keyboard.type('payments');
      expect(await page.getByRole('searchbox').inputValue()).toBe('payments');
      await page.getByText(/^\d+ of 200 agents$/).waitFor();
    }
    await page.getByRole('searchbox').fill('');
  });

  test('Enter opens the first agent that is found, and the down arrow moves to it', async () => {
    const agentId = world.rows.agents[60]?.agentId ?? '';
    await go('inbox');
    await page.keyboard.press('/');
    await page.keyboard.type(agentId);
    await page.getByText('1 of 200 agents').waitFor();
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => page.evaluate('document.activeElement.dataset.index'), { timeout: WAIT_MS }).toBe('0');
    await page.keyboard.press('/');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: agentId }).waitFor();
    await go('fleet');
    await page.getByRole('searchbox').fill('');
  });

  test('Enter right after the words waits for the agents, and opens the first one', async () => {
    const agentId = world.rows.agents[60]?.agentId ?? '';
    const cells = '**/v1/fleet/cells';
    const held = Promise.withResolvers<void>();
    await go('inbox');
    await page.route(cells, async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.keyboard.press('/');
    await page.keyboard.type(agentId);
    await page.keyboard.press('Enter');
    held.resolve();
    await page.getByRole('heading', { level: 1, name: agentId }).waitFor();
    await page.unroute(cells);
    await go('fleet');
    await page.getByRole('searchbox').fill('');
  });

  test('Enter at once in a field that shows the agents opens the one that the words find', async () => {
    const agentId = world.rows.agents[60]?.agentId ?? '';
    // No field has the focus.
    await go('inbox');
    await go('fleet');
    await page.locator('.cell').first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type(agentId);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: agentId }).waitFor();
    await go('fleet');
    await page.getByRole('searchbox').fill('');
  });

  test('a second search replaces the words of the first one, on the fleet and from another view', async () => {
    const field = page.getByRole('searchbox');
    // No field has the focus.
    await go('inbox');
    await go('fleet');
    await page.keyboard.press('/');
    await page.keyboard.type('payments');
    await page.locator('.cell').first().focus();
    await page.keyboard.press('/');
    await page.keyboard.type('search');
    expect(await field.inputValue()).toBe('search');
    await go('cases');
    await page.keyboard.press('/');
    await page.keyboard.type('billing');
    expect(await field.inputValue()).toBe('billing');
    await field.fill('');
  });

  test('where only an ended agent matches, the page offers it, and Enter shows it', async () => {
    const agentId = world.rows.agents[60]?.agentId ?? '';
    const { state, unhealthy } = world.rows.agents[60] ?? {};
    world.changeAgent(agentId, { state: 'TERMINATED', unhealthy: false });
    await go('inbox');
    await go('fleet');
    await page.keyboard.press('/');
    await page.keyboard.type(agentId);
    await page.getByText('No agent that runs matches. 1 ended agent does.').waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('1 of 200 agents').waitFor();
    await page.getByRole('checkbox', { name: 'Ended' }).uncheck();
    await page.getByRole('searchbox').fill('');
    world.changeAgent(agentId, { ...(state && { state }), ...(unhealthy !== undefined && { unhealthy }) });
  });

  test('the arrows and Enter work in the cells at once, after g f and after a load', async () => {
    const focused = () => page.evaluate('document.activeElement.dataset.index');
    await go('inbox');
    await page.getByRole('link', { name: 'Breakers' }).focus();
    await page.keyboard.press('g');
    await page.keyboard.press('f');
    await expect.poll(focused, { timeout: WAIT_MS }).toBe('0');
    await page.keyboard.press('ArrowRight');
    await expect.poll(focused, { timeout: WAIT_MS }).toBe('1');
    await page.keyboard.press('Enter');
    await page.locator('h1.mono').waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('f');
    await page.keyboard.press('/');
    await page.keyboard.type('x');
    await page.keyboard.press('ArrowLeft');
    expect(await page.getByRole('searchbox').inputValue()).toBe('x');
    await page.getByRole('searchbox').fill('');
    await go('fleet');
    await page.reload();
    await page.locator('.cell').first().waitFor();
    await page.keyboard.press('ArrowDown');
    await expect.poll(focused, { timeout: WAIT_MS }).toBe('0');
  });

  test('after a command by the keyboard its button has the focus', async () => {
    await go(`fleet/${world.rows.agents[10]?.agentId}`);
    await page.getByRole('button', { name: 'Hold' }).press('Enter');
    await page.getByLabel('Why').fill('a look');
    await page.keyboard.press('Enter');
    await page.locator('dialog').waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.textContent')).toMatch(/^Hold/);
    await page.getByLabel('Commands of this page').getByText('Hold done').waitFor();
  });

  test('an address that changes before the page is drawn is the one that is shown', async () => {
    const own = await openPage(browser, problems);
    await own.goto(await world.loginAddress());
    await own.addInitScript("addEventListener('DOMContentLoaded', () => { location.hash = '#/policies'; })");
    await own.reload();
    await own.getByRole('heading', { level: 1, name: 'Policies' }).waitFor();
    await own.close();
  });

  test('the keyboard alone opens views, help and agents', async () => {
    await go('inbox');
    await page.locator('main ul').first().waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    // A closed dialog has no role, and takes the next key until it has left the document.
    await page.locator('dialog').waitFor({ state: 'detached' });
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

  test('a dialog closes when the address moves to another view', async () => {
    await go(`fleet/${world.rows.agents[41]?.agentId}`);
    await page.getByRole('button', { name: 'Nudge' }).click();
    await page.getByRole('dialog').waitFor();
    await page.evaluate("location.hash = '#/alerts'");
    await page.getByRole('heading', { level: 1, name: 'Alerts' }).waitFor();
    await page.locator('dialog').waitFor({ state: 'detached' });
  });

  // A browser opens six connections to an address, for all its tabs.
  test('nine tabs side by side share one stream: each is current, a change is in all, and a command is sent', async () => {
    const context = await browser.newContext();
    const before = world.streams.size;
    const agentId = world.rows.agents[60]?.agentId ?? '';
    world.changeAgent(agentId, { state: 'HEALTHY', since: Date.now() });
    const tabs: Page[] = [];
    for (const index of [60, 41, 3, 10, 61, 60, 60, 60, 60]) {
      const tab = await context.newPage();
      tab.setDefaultTimeout(WAIT_MS);
      if (tabs.length === 0) await tab.goto(await world.loginAddress());
      await goTo(tab, world.url, `fleet/${world.rows.agents[index]?.agentId}`);
      await tab.getByText(/^current, /).waitFor();
      tabs.push(tab);
    }
    await expect.poll(() => world.streams.size, { timeout: WAIT_MS }).toBe(before + 1);
    const showing = tabs.filter((_, at) => at === 0 || at > 4);
    const all = (state: string) =>
      Promise.all(showing.map((tab) => tab.locator('.title').getByText(state, { exact: true }).waitFor()));
    await all('HEALTHY');
    world.changeAgent(agentId, { state: 'FAILING', since: Date.now() });
    await all('FAILING');
    await tabs[1]?.getByRole('button', { name: 'Hold' }).click();
    await tabs[1]?.getByLabel('Why').fill('a look');
    await tabs[1]?.getByRole('dialog').getByRole('button', { name: 'Hold' }).click();
    await tabs[1]?.getByText(/^Hold done/).waitFor();
    for (const tab of tabs) await tab.getByText(/^current, /).waitFor();
    // The first tab has the stream.
    await showing.shift()?.close();
    await expect.poll(() => world.streams.size, { timeout: WAIT_MS }).toBe(before + 1);
    world.changeAgent(agentId, { state: 'DEGRADED', since: Date.now() });
    await all('DEGRADED');
    world.changeAgent(agentId, { state: 'HEALTHY', since: Date.now() });
    await context.close();
    await expect.poll(() => world.streams.size, { timeout: WAIT_MS }).toBe(before);
  });

  test('a hidden tab has no stream, and shows the present state when it is seen again', async () => {
    const own = await openPage(browser, problems);
    await own.goto(await world.loginAddress());
    const agentId = world.rows.agents[60]?.agentId ?? '';
    await goTo(own, world.url, `fleet/${agentId}`);
    await own.getByText('HEALTHY').first().waitFor();
    const before = world.streams.size;
    const become = (state: string) =>
      own.evaluate(
        `Object.defineProperty(document, 'visibilityState', { configurable: true, value: '${state}' });` +
          `document.dispatchEvent(new Event('visibilitychange'))`,
      );
    await become('hidden');
    await expect.poll(() => world.streams.size, { timeout: WAIT_MS }).toBe(before - 1);
    world.changeAgent(agentId, { state: 'FAILING', since: Date.now() });
    await become('visible');
    await expect.poll(() => world.streams.size, { timeout: WAIT_MS }).toBe(before);
    await own.getByText('FAILING').first().waitFor();
    await own.close();
  });

  test('a page whose session has ended has how to log in, and continues after a new login in the same browser', async () => {
    const context = await browser.newContext();
    const own = await context.newPage();
    own.setDefaultTimeout(WAIT_MS);
    await own.goto(await world.loginAddress());
    await goTo(own, world.url, 'fleet');
    const line = own.locator('.knowledge');
    await line.getByText(/^current, /).waitFor();
    await context.clearCookies();
    await line.getByText('Your session has ended: log in again. Open the link that `vigil login`').waitFor();
    expect(await own.getByText('BLIND since').count()).toBe(0);
    // A command without a session would be refused.
    await own.getByRole('button', { name: 'Halt' }).waitFor({ state: 'detached' });
    const login = await context.newPage();
    await login.goto(await world.loginAddress());
    await line.getByText(/^current, /).waitFor();
    await own.getByRole('button', { name: 'Halt' }).waitFor();
    await context.close();
  });

  test('below the inbox is the count of open alerts, which leads to them', async () => {
    await go('inbox');
    await page.getByRole('link', { name: /open and not acknowledged$/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Alerts' }).waitFor();
  });

  test('the browser has reported no mistake', () => {
    expect(problems).toEqual([]);
  });
});
