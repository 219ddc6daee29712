import type { ServiceName } from '@vigil/dev';
import { browserPath, goTo, openBrowser, openPage } from '../page/browser.ts';
import { openSystem, until } from '../support/system.ts';
import { RUNS } from './support/ground.ts';
import { type Figure, print, report } from './support/report.ts';

/**
 * Measures the time from the moment at which a part stands still until the page shows that it is blind. The promise is five
 * seconds. test/blindness/limits.test.ts derives it from the limits that are set.
 */
const PARTS: readonly ServiceName[] = ['gateway', 'heartbeat-ingest', 'health-evaluator', 'projector', 'dashboard'];
const BLIND = 'BLIND since';

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
  for (const part of PARTS) {
    const runs: number[] = [];
    while (runs.length < RUNS) {
      await page.getByText(/^current, /).waitFor();
      await until('a current page', async () => !(await page.locator('.away').isVisible()));
      const shown = page.evaluate(shownAt(BLIND));
      const service = test.system.service(part);
      service.freeze();
      const since = Date.now();
      runs.push(Number(await shown) - since);
      service.thaw();
      print(`${part}, run ${runs.length} of ${RUNS}: ${runs.at(-1)} ms`);
    }
    figures.push({ name: `${part} stands still, until the page is blind`, unit: 'ms', runs });
  }
  report('blindness', figures);
} finally {
  await browser.close();
  await test.stop();
}
