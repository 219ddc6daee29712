import { browserPath, openBrowser } from '../page/browser.ts';
import { openWorld } from '../page/world-model.ts';
import { print, report } from './support/report.ts';

/**
 * Measures how smoothly the page scrolls through a fleet of 10,000 agents, while 20 of them change each second. It also
 * measures how soon a change of one is drawn. The browser is a headless Chromium without a graphics card. The aims are a p95 of at most 50 ms a
 * frame, and a second from a changed row to the page.
 */
const AGENTS = 10_000;
const ROUNDS = 5;
const SCROLL_MS = 4000;
const CHANGES_PER_S = 20;
const CHANGES = 20;

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

/** Waits for the frame in which an agent is the first of those that changed lately; when that was, epoch milliseconds. */
const drawnAt = (agentId: string) => `new Promise((resolve) => {
  const look = () => {
    const newest = document.querySelector('.lately li');
    if (newest !== null && newest.textContent.includes(${JSON.stringify(agentId)})) resolve(Date.now());
    else requestAnimationFrame(look);
  };
  look();
})`;

const percentile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? 0;

const executable = browserPath();
if (executable === null) throw new Error('no Chromium: install it with apt-get install chromium, or set CHROMIUM_PATH');
await using world = await openWorld(AGENTS);
const browser = await openBrowser(executable);
try {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, locale: 'en-US' });
  await page.goto(await world.loginAddress());
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
  const seen: number[] = [];
  for (let count = 0; count < CHANGES; count += 1) {
    const { agentId = '' } = world.rows.agents[count * 41 + 7] ?? {};
    const drawn = page.evaluate(drawnAt(agentId));
    const changedAt = Date.now();
    world.changeAgent(agentId, { state: 'FAILING', since: changedAt });
    seen.push(Number(await drawn) - changedAt);
  }
  report('page', [
    { name: `scrolling ${AGENTS} agents: p95 of a frame`, unit: 'ms', runs },
    { name: `a changed row of ${AGENTS} agents: until it is drawn`, unit: 'ms', runs: seen },
  ]);
} finally {
  await browser.close();
}
