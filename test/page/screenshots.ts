import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import UPNG from 'upng-js';
import { browserPath, openBrowser } from './browser.ts';
import { openWorld, type World } from './world-model.ts';

/** Writes the pictures of the page: each view, dark and light, on a desktop and on a phone. `npm run screenshots [VIEW]` */
const FOLDER = path.join(import.meta.dirname, '../../docs/screenshots');
const NOW = Date.UTC(2026, 10, 27, 14, 5, 12);
const MOST_BYTES = 150_000;
const COLOURS = 256;

const SIZES = {
  desktop: { width: 1440, height: 900 },
  phone: { width: 390, height: 844 },
} as const;

/** The place of each view. An agent and a case have more than a screen. */
const placesOf = (world: World): Readonly<Record<string, { readonly place: string; readonly height: number }>> => ({
  inbox: { place: 'inbox', height: 0 },
  fleet: { place: 'fleet', height: 0 },
  agent: { place: `fleet/${world.rows.agents[3]?.agentId}`, height: 520 },
  cases: { place: 'cases', height: 0 },
  case: { place: 'cases/case-3f61c0', height: 0 },
  tasks: { place: 'tasks', height: 0 },
  breakers: { place: 'breakers', height: 0 },
  alerts: { place: 'alerts', height: 0 },
  'dead-letters': { place: 'dead-letters', height: 0 },
  policies: { place: 'policies', height: 0 },
});

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
) => {
  const { width, height } = SIZES[size];
  const page = await browser.newPage({ viewport: { width, height }, colorScheme, locale: 'en-US', timezoneId: 'UTC' });
  await page.clock.setFixedTime(NOW);
  await page.goto(await world.loginAddress());
  for (const [name, { place, height: more }] of Object.entries(placesOf(world))) {
    if (wanted !== null && wanted !== name) continue;
    await page.setViewportSize({ width, height: height + more });
    await page.goto(`${world.url}/#/${place}`);
    await page.locator('main table, main ul, main ol, main .grid').first().waitFor();
    await page.evaluate('document.fonts.ready');
    const dismiss = page.getByRole('button', { name: 'Dismiss' });
    if (name !== 'inbox' || size === 'phone') if (await dismiss.isVisible()) await dismiss.click();
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
const browser = await openBrowser(executable);
try {
  for (const size of ['desktop', 'phone'] as const)
    for (const colorScheme of ['dark', 'light'] as const)
      await shoot(browser, world, size, colorScheme, process.argv[2] ?? null);
} finally {
  await browser.close();
}
