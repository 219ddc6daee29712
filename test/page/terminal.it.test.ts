import { Topic } from '@vigil/events';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { goTo, installedBrowser, openBrowser, openPage, WAIT_MS } from './browser.ts';
import { openWorld, type World } from './world-model.ts';

const HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';

const executable = installedBrowser();

describe.skipIf(executable === null)('the terminal on the page', () => {
  let browser: Browser;
  let world: World;
  let page: Page;
  let agentId: string;
  const problems: string[] = [];

  const seen = (text: string | RegExp) => page.getByText(text).first().waitFor();
  const leases = () => world.written(Topic.leaseTerminal);
  const publish = (more: object) =>
    world.publishTerminal({
      topic: Topic.agentTerminal,
      type: 'TERMINAL_CHANGED',
      payload: {
        ...{ agentId, instanceId: 'i1', runtimeId: 'host-1', sequence: 0, removed: 0, kept: 0 },
        ...{ lines: [], unseen: 0, outputAt: null },
        ...more,
      },
    });
  /** By the keyboard. Resolves when the dashboard has a lease. */
  const show = async () => {
    const before = leases().length;
    await goTo(page, world.url, `fleet/${agentId}`);
    await page.getByRole('button', { name: 'Show terminal' }).press('Enter');
    await expect.poll(() => leases().length, { timeout: WAIT_MS }).toBe(before + 1);
  };
  const terminal = () => page.getByLabel(`Terminal of ${agentId}`);
  const ttl = () => {
    const lease = leases().at(-1);
    return lease?.type === 'LEASE_TERMINAL' ? lease.payload.ttlMs : null;
  };
  /** Resolves when the lease has ended, so that its end is not taken for the next one. */
  const close = async () => {
    await page.getByRole('button', { name: 'Close terminal' }).press('Enter');
    await expect.poll(ttl, { timeout: WAIT_MS }).toBe(0);
  };

  beforeAll(async () => {
    browser = await openBrowser(executable ?? '');
    world = await openWorld(200);
    agentId = world.rows.agents[3]?.agentId ?? '';
    world.changeAgent(agentId, { runtimeId: 'host-1', state: 'HEALTHY' });
    page = await openPage(browser, problems, { viewport: { width: 360, height: 800 } });
    await page.goto(await world.loginAddress());
  });
  afterAll(async () => {
    await browser?.close();
    await world?.[Symbol.asyncDispose]();
  });

  test('an operator opens it by the keyboard, sees its lines and changes, pauses them, and the lease ends when it is closed', async () => {
    await show();
    await seen(/^Waiting for runtime host-1/);
    publish({ lines: ['$ make', 'building'] });
    await seen(/^Live\. Last change/);
    publish({ sequence: 1, kept: 1, lines: ['built'], unseen: 2 });
    await expect.poll(() => terminal().textContent(), { timeout: WAIT_MS }).toBe('$ make\nbuilt');
    await seen('2 lines came faster than they are sent, and are left out between these.');
    await page.getByRole('button', { name: 'Pause' }).press('Enter');
    publish({ sequence: 2, kept: 2, lines: ['tests pass'] });
    await seen('Paused: these lines are not updated.');
    expect(await terminal().textContent()).toBe('$ make\nbuilt');
    await page.getByRole('button', { name: 'Follow' }).press('Enter');
    await expect.poll(() => terminal().textContent(), { timeout: WAIT_MS }).toBe('$ make\nbuilt\ntests pass');
    await terminal().focus();
    const lease = leases().at(-1)?.payload;
    expect(lease).toMatchObject({ agentId, by: 'ada', ttlMs: 30_000 });
    await close();
    expect(leases().at(-1)?.payload).toEqual({ ...lease, ttlMs: 0 });
  });

  test('lines that are no longer live are never shown as live: the reason and the time are there', async () => {
    await show();
    publish({ lines: ['last words'] });
    await seen(/^Live/);
    const why = 'the agent has ended';
    const payload = { agentId, instanceId: 'i1', runtimeId: 'host-1', why };
    world.publishTerminal({ topic: Topic.agentTerminal, type: 'TERMINAL_CLOSED', payload });
    await seen(/^Closed at .*: the agent has ended\. These lines are old\.$/);
    publish({ lines: ['a new process'] });
    await seen(/^Live/);
    await close();
  });

  test('what an agent prints is text: it neither runs, nor becomes part of the page, nor turns the text around it', async () => {
    await show();
    publish({ lines: [HOSTILE, '\u001b]0;title\u0007\u001b[2J\u202Eevil', 'x'.repeat(500)] });
    await expect.poll(() => terminal().textContent(), { timeout: WAIT_MS }).toContain(HOSTILE);
    for (const steering of ['\u001b', '\u0007', '\u202e'])
      expect(await terminal().textContent()).not.toContain(steering);
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await page.locator('main img, main script').count()).toBe(0);
    const over = 'document.getElementById("view").scrollWidth - document.getElementById("view").clientWidth';
    expect(await page.evaluate(over)).toBe(0);
    await close();
  });

  test('a viewer has no button for it, and its request is refused', async () => {
    world.state.role = 'viewer';
    await page.reload();
    await seen('ada (viewer)');
    await page.getByRole('heading', { name: 'Last output' }).waitFor();
    expect(await page.getByRole('button', { name: 'Show terminal' }).count()).toBe(0);
    const status = await page.evaluate(`fetch('/v1/agents/${agentId}/terminal').then(({ status }) => status)`);
    expect(status).toBe(403);
    world.state.role = 'operator';
    await page.reload();
  });

  test('an operator that becomes a viewer loses the open terminal', async () => {
    await show();
    publish({ lines: ['one'] });
    await seen(/^Live/);
    world.state.role = 'viewer';
    // The stream ends with the reason, and the panel goes when the page has read the role.
    try {
      await page.getByText(/^Live/).waitFor({ state: 'detached' });
    } finally {
      world.state.role = 'operator';
    }
    await page.reload();
  });

  test('an agent without a runtime has the reason in the place of the button', async () => {
    world.changeAgent(agentId, { runtimeId: null });
    await page.reload();
    await seen(/^It runs without a runtime\. Only an agent that/);
    expect(await page.getByRole('button', { name: 'Show terminal' }).count()).toBe(0);
    world.changeAgent(agentId, { runtimeId: 'host-1' });
  });

  test.each(['dark', 'light'] as const)(
    'the open terminal has no serious finding of axe in %s',
    async (colorScheme) => {
      const own = await browser.newPage({ colorScheme, bypassCSP: true });
      await own.goto(await world.loginAddress());
      await goTo(own, world.url, `fleet/${agentId}`);
      await own.getByRole('button', { name: 'Show terminal' }).click();
      await own.getByText(/^Waiting for runtime host-1/).waitFor();
      publish({ lines: ['one'] });
      await own.getByText(/^Live/).waitFor();
      await own.evaluate(axe.source);
      type Found = { readonly violations: readonly { readonly id: string; readonly impact: string | null }[] };
      const { violations } = (await own.evaluate('axe.run()')) as Found;
      expect(violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')).toEqual([]);
      await own.close();
    },
  );

  test('a fifth terminal is refused with the agents of the other four, its page is not blind, and it opens when one is closed', async () => {
    const agents = [20, 21, 22, 23, 24].map((index) => world.rows.agents[index]?.agentId ?? '');
    for (const id of agents) world.changeAgent(id, { runtimeId: 'host-1', state: 'HEALTHY' });
    const context = await browser.newContext({ locale: 'en-US' });
    const begin = await context.newPage();
    await begin.goto(await world.loginAddress());
    await begin.close();
    const open = async (id: string): Promise<Page> => {
      const own = await context.newPage();
      own.setDefaultTimeout(WAIT_MS);
      await goTo(own, world.url, `fleet/${id}`);
      await own.getByRole('button', { name: 'Show terminal' }).click();
      return own;
    };
    const isOpen = (own: Page) => own.getByText(/^Waiting for runtime host-1/).waitFor();
    const four: Page[] = [];
    for (const id of agents.slice(0, 4)) {
      const own = await open(id);
      await isOpen(own);
      four.push(own);
    }
    const fifth = await open(agents[4] ?? '');
    const names = agents.slice(0, 4).toSorted().join(', ');
    await fifth.getByText(`: 4 terminals are open in this browser, the most that it has room for: ${names}.`).waitFor();
    for (let answers = 0; answers < 3; answers += 1)
      await fifth.waitForResponse((response) => response.url().endsWith('/v1/fleet') && response.ok());
    await fifth.getByText(/^current, /).waitFor();
    await four[0]?.getByRole('button', { name: 'Close terminal' }).click();
    await isOpen(fifth);
    await context.close();
  });

  test('the browser has reported no mistake', () => {
    expect(problems).toEqual([]);
  });
});
