import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Topic } from '@vigil/events';
import type { AgentRow } from '@vigil/read-model';
import type { Browser, Page } from 'playwright-core';
import UPNG from 'upng-js';
import { browserPath, openBrowser } from './browser.ts';
import { openWorld, startReplays, type World } from './world-model.ts';

/** Writes the pictures of the page: each view, dark and light, on a desktop and on a phone. `npm run screenshots [VIEW]` */
const FOLDER = path.join(import.meta.dirname, '../../docs/screenshots');
const NOW = Date.UTC(2026, 10, 27, 14, 5, 12);
const MOST_BYTES = 150_000;
const COLOURS = 256;

const SIZES = {
  desktop: { width: 1440, height: 900 },
  phone: { width: 390, height: 844 },
} as const;

type Place = { readonly place: string; readonly height: number };

/** Its view opens the terminal of an agent. */
const TERMINAL = 'terminal';
/** Its view compares two policies. */
const POLICY = 'policy';

/** The place of each view. An agent has more than a screen. */
const placesOf = (agent: AgentRow, replayId: string): Readonly<Record<string, Place>> => ({
  inbox: { place: 'inbox', height: 0 },
  fleet: { place: 'fleet', height: 0 },
  agent: { place: `fleet/${agent.agentId}`, height: 520 },
  [TERMINAL]: { place: `fleet/${agent.agentId}`, height: 0 },
  cases: { place: 'cases', height: 0 },
  case: { place: 'cases/case-3f61c0', height: 0 },
  tasks: { place: 'tasks', height: 0 },
  task: { place: 'tasks/OMN-4230', height: 0 },
  breakers: { place: 'breakers', height: 0 },
  alerts: { place: 'alerts', height: 0 },
  'dead-letters': { place: 'dead-letters', height: 0 },
  policies: { place: 'policies', height: 0 },
  [POLICY]: { place: 'policies/vigil', height: 0 },
  replay: { place: 'replay', height: 0 },
  'what-if': { place: `replay/${replayId}`, height: 0 },
});

const LINES = [
  '$ pnpm test --filter checkout',
  ' ❯ src/payments/refund.test.ts (6 tests | 1 failed) 5031 ms',
  '   × refunds a partial payment once',
  '     → expected 1 call, got 2',
  '',
  '● The refund is sent twice. I look for the second call.',
  '',
  '$ rg "refund\\(" services/payments/src',
  'services/payments/src/refunds.ts:41:  await gateway.refund(order, amount);',
  'services/payments/src/retries.ts:17:  return retry(() => gateway.refund(order, amount), 2);',
];

/** Its runtime answers the lease with the last lines. */
const openTerminal = async (page: Page, world: World, { agentId, instanceId, runtimeId }: AgentRow): Promise<void> => {
  await page.getByRole('button', { name: 'Show terminal' }).click();
  await page.getByText(`Waiting for runtime ${runtimeId}`).waitFor();
  const lines = { sequence: 0, removed: 0, kept: 0, lines: LINES, unseen: 0, outputAt: NOW - 2000 };
  const payload = { agentId, instanceId: instanceId ?? '', runtimeId: runtimeId ?? '', ...lines };
  world.publishTerminal({ topic: Topic.agentTerminal, type: 'TERMINAL_CHANGED', payload });
  await page.getByText(/^Live/).waitFor();
  await page.getByLabel(`Terminal of ${agentId}`).evaluate((lines) => lines.scrollIntoView({ block: 'center' }));
};

/** The same picture with at most 256 colours. */
const compressed = (png: Buffer): Buffer => {
  const { buffer, byteOffset, byteLength } = png;
  const image = UPNG.decode(buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer);
  return Buffer.from(UPNG.encode(UPNG.toRGBA8(image), image.width, image.height, COLOURS));
};

type Size = keyof typeof SIZES;

const shoot = async (
  browser: Browser,
  world: World,
  size: Size,
  colorScheme: 'dark' | 'light',
  wanted: string | null,
  replayId: string,
) => {
  const { width, height } = SIZES[size];
  const agent = world.rows.agents[3];
  if (agent === undefined) throw new Error('the fleet has no fourth agent');
  const page = await browser.newPage({ viewport: { width, height }, colorScheme, locale: 'en-US', timezoneId: 'UTC' });
  await page.clock.setFixedTime(NOW);
  await page.goto(await world.loginAddress());
  for (const [name, { place, height: more }] of Object.entries(placesOf(agent, replayId))) {
    if (wanted !== null && wanted !== name) continue;
    await page.setViewportSize({ width, height: height + more });
    await page.goto(`${world.url}/#/${place}`);
    await page.locator('main table, main ul, main ol, main .grid, main select').first().waitFor();
    await page.evaluate('document.fonts.ready');
    const dismiss = page.getByRole('button', { name: 'Dismiss' });
    if (name !== 'inbox' || size === 'phone') if (await dismiss.isVisible()) await dismiss.click();
    if (name === TERMINAL) await openTerminal(page, world, agent);
    if (name === POLICY) await page.getByLabel('Compare with').selectOption('coditect');
    // No row is marked as the one under the pointer.
    await page.mouse.move(0, 0);
    // The charts are drawn in the next frames.
    await page.waitForTimeout(300);
    const picture = compressed(await page.screenshot());
    const file = `${name}-${size}-${colorScheme}.png`;
    if (picture.length > MOST_BYTES) throw new Error(`${file} has ${picture.length} bytes, more than ${MOST_BYTES}`);
    writeFileSync(path.join(FOLDER, file), picture);
    console.log(`written docs/screenshots/${file}, ${Math.round(picture.length / 1000)} kB`);
  }
  await page.close();
};

const executable = browserPath();
if (executable === null) throw new Error('no Chromium: install it with apt-get install chromium, or set CHROMIUM_PATH');
mkdirSync(FOLDER, { recursive: true });
await using world = await openWorld(200, () => NOW);
const [, replayId = ''] = startReplays(world);
const browser = await openBrowser(executable);
try {
  for (const size of ['desktop', 'phone'] as const)
    for (const colorScheme of ['dark', 'light'] as const)
      await shoot(browser, world, size, colorScheme, process.argv[2] ?? null, replayId);
} finally {
  await browser.close();
}
