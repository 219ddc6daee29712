import { spawn } from 'node:child_process';
import { bundleOf, type ServiceName } from '@vigil/dev';
import { brokerFrozen, type Fault, frozen, postgresClosed } from '../blindness/standstill.ts';
import { browserPath, goTo, openBrowser, openPage } from '../page/browser.ts';
import { openSystem, until } from '../support/system.ts';
import { RUNS } from './support/ground.ts';
import { type Figure, print, report } from './support/report.ts';

/**
 * Measures the time from the moment at which a part stands still until the page and `vigil health --watch` show it. Where
 * states cannot be current without the part, that is until they are blind; else until they name it. The promise is five
 * seconds. test/blindness/limits.test.ts derives it from the limits that are set.
 */
const BLINDING: readonly ServiceName[] = ['gateway', 'heartbeat-ingest', 'health-evaluator', 'projector', 'dashboard'];
const NAMED: readonly ServiceName[] = ['intervention', 'recovery', 'alerting'];
const BLIND = 'BLIND since';

type Part = { readonly name: string; readonly fault: Fault; readonly shows: string };

const PARTS: readonly Part[] = [
  { name: 'broker', fault: brokerFrozen, shows: BLIND },
  { name: 'postgres', fault: postgresClosed, shows: BLIND },
  ...BLINDING.map((name) => ({ name, fault: frozen(name), shows: BLIND })),
  ...NAMED.map((name) => ({ name, fault: frozen(name), shows: `${name} since` })),
];

const executable = browserPath();
if (executable === null) throw new Error('no Chromium: install it with apt-get install chromium, or set CHROMIUM_PATH');

const test = await openSystem({ name: 'bench-blindness', policy: 'demo' });
const browser = await openBrowser(executable);
const { VIGIL_DASHBOARD_URL: url, VIGIL_DASHBOARD_TOKEN: token } = test.system.env;

/** Waits for the frame that has the text; when that was, epoch milliseconds. */
const shownAt = (text: string) => `new Promise((resolve) => {
  const look = () => {
    if (document.body.textContent.includes(${JSON.stringify(text)})) resolve(Date.now());
    else requestAnimationFrame(look);
  };
  look();
})`;

/** `vigil health --watch`: what it has shown since the last call of `forget`. */
const openWatch = () => {
  const child = spawn(process.execPath, [bundleOf('vigil'), 'health', '--watch'], {
    env: { ...process.env, ...test.system.env, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  let waiting: { readonly text: string; readonly found: (at: number) => void } | null = null;
  child.stdout.setEncoding('utf8').on('data', (more: string) => {
    text += more;
    if (waiting !== null && text.includes(waiting.text)) waiting.found(Date.now());
  });
  return {
    shownAt: (wanted: string): Promise<number> =>
      new Promise((found) => {
        text = '';
        waiting = { text: wanted, found };
      }),
    end: () => void child.kill(),
  };
};

try {
  await test.fleet(['steady']);
  const page = await openPage(browser, []);
  page.setDefaultTimeout(60_000);
  const answer = await fetch(`${url}/v1/login-links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  });
  await page.goto(`${url}${((await answer.json()) as { readonly path: string }).path}`);
  await goTo(page, url, 'fleet');
  const figures: Figure[] = [];
  for (const { name, fault, shows } of PARTS) {
    const onPage: number[] = [];
    const inTerminal: number[] = [];
    while (onPage.length < RUNS) {
      await page.getByText(/^current, /).waitFor();
      await until('a current page', async () => !(await page.locator('.away').isVisible()), 120_000);
      const watch = openWatch();
      await watch.shownAt('steady');
      const shown = page.evaluate(shownAt(shows));
      const watched = watch.shownAt(shows);
      const begun = Date.now();
      const end = await fault(test);
      onPage.push(Number(await shown) - begun);
      inTerminal.push((await watched) - begun);
      watch.end();
      await end();
      print(`${name}, run ${onPage.length} of ${RUNS}: page ${onPage.at(-1)} ms, watch ${inTerminal.at(-1)} ms`);
    }
    const shown = shows === BLIND ? 'is blind' : 'names it';
    figures.push({ name: `${name}, until the page ${shown}`, unit: 'ms', runs: onPage });
    figures.push({ name: `${name}, until the watch ${shown}`, unit: 'ms', runs: inTerminal });
  }
  report('blindness', figures);
} finally {
  await browser.close();
  await test.stop();
}
