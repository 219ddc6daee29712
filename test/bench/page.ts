import { browserPath, openBrowser } from '../page/browser.ts';
import { openWorld } from '../page/world-model.ts';
import { print, report } from './support/report.ts';

/**
 * Measures how smoothly the page scrolls through a fleet of 10,000 agents, while 20 of them change each second, in a
 * headless Chromium without a graphics card. The aim is a p95 of at most 50 ms a frame.
 */
const AGENTS = 10_000;
const ROUNDS = 5;
const SCROLL_MS = 4000;
const CHANGES_PER_S = 20;

/** Scrolls for a while, and returns the times between frames, milliseconds. */
const SCROLL = `new Promise((resolve) => {
  const view = document.getElementById('view');
  const frames = [];
  const began = performance.now();
  let last = began;
  const frame = (now) => {
    frames.push(now - last);
    last = now;
    view.scrollTop += 90;
    if (view.scrollTop + view.clientHeight >= view.scrollHeight - 1) view.scrollTop = 0;
    if (now - began < ${SCROLL_MS}) requestAnimationFrame(frame);
    else resolve(frames.slice(1));
  };
  requestAnimationFrame(frame);
})`;

const percentile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? 0;

const executable = browserPath();
if (executable === null) throw new Error('no Chromium: install it with apt-get install chromium, or set CHROMIUM_PATH');
await using world = await openWorld(AGENTS);
const browser = await openBrowser(executable);
try {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, locale: 'en-US' });
  await page.goto(`${world.url}/#/fleet`);
  await page.locator('.cell').first().waitFor({ timeout: 60_000 });
  let next = 0;
  const changing = setInterval(() => {
    const { agentId = '' } = world.rows.agents[next % AGENTS] ?? {};
    next += 37;
    world.changeAgent(agentId, { since: Date.now() });
  }, 1000 / CHANGES_PER_S);
  const runs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const frames = (await page.evaluate(SCROLL)) as readonly number[];
    runs.push(percentile(frames, 0.95));
    print(`round ${round + 1} of ${ROUNDS}: ${frames.length} frames`);
  }
  clearInterval(changing);
  report('page', [{ name: `scrolling ${AGENTS} agents: p95 of a frame`, unit: 'ms', runs }]);
} finally {
  await browser.close();
}
