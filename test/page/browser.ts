import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { placeOf, titleOf } from '../../packages/page/src/model/places.ts';

const PLACES = [process.env.CHROMIUM_PATH, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** A page that waits longer than this is broken; a busy machine needs a part of it, milliseconds. */
export const WAIT_MS = 30_000;

const FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync', '--disable-dev-shm-usage'],
];

/** The browser of this machine; null: there is none. */
export const browserPath = (): string | null => PLACES.find((file) => file !== undefined && existsSync(file)) ?? null;

const INSTALL =
  'apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium';

/** The browser of this machine. Where there is none, Debian's Chromium is installed, if this user may do so. */
export const installedBrowser = (): string | null => {
  const found = browserPath();
  if (found !== null || process.getuid?.() !== 0) return found;
  console.log('installing Chromium for the tests of the page');
  spawnSync('sh', ['-c', INSTALL], { stdio: 'ignore', timeout: 300_000 });
  return browserPath();
};

export const openBrowser = (executablePath: string): Promise<Browser> =>
  chromium.launch({ executablePath, args: FLAGS, env: { ...process.env, LANG: 'en_US.UTF-8' } });

/** A page of its own, whose mistakes are added to the problems. */
export const openPage = async (browser: Browser, problems: string[], more: object = {}): Promise<Page> => {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, locale: 'en-US', ...more });
  page.setDefaultTimeout(WAIT_MS);
  page.on('pageerror', (error) => problems.push(error.message));
  // A lost connection is part of a test; anything else that the browser reports is a mistake.
  page.on('console', (message) => {
    if (message.type() === 'error' && !/ERR_|Failed to load resource/.test(message.text()))
      problems.push(message.text());
  });
  return page;
};

/** Moves the page to a place such as `fleet/worker-1`, and waits for its heading: the view before it may have the same buttons. */
export const goTo = async (page: Page, url: string, place: string): Promise<void> => {
  await page.goto(`${url}/#/${place}`);
  const name = titleOf(placeOf(`#/${place}`));
  await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
};
