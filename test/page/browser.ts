import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PLACES = [process.env.CHROMIUM_PATH, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

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
