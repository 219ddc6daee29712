import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { goTo, installedBrowser, openBrowser, openPage, WAIT_MS } from './browser.ts';
import { openWorld, type World } from './world-model.ts';

const executable = installedBrowser();

describe.skipIf(executable === null)('the keys and addresses of the page', () => {
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

  test('the browser has reported no mistake', () => {
    expect(problems).toEqual([]);
  });
});
