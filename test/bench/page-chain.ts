import { setTimeout as sleep } from 'node:timers/promises';
import { type Heartbeat, Topic } from '@vigil/events';
import type { Page } from 'playwright-core';
import { browserPath, openBrowser } from '../page/browser.ts';
import { openSystem } from '../support/system.ts';
import { recordOf, working } from './support/heartbeats.ts';
import { print, quantile, report } from './support/report.ts';

/**
 * Measures the time from a record in Kafka until the page draws its row, over the projector, Postgres, the dashboard and
 * its stream. The record is the start of a new agent, which the evaluator writes. The time from the heartbeat before
 * it is measured as well. The aim is a second from the record. Every other agent sends a heartbeat every ten seconds.
 */
const AGENTS = 1_000;
const INTERVAL_MS = 10_000;
const WARM = 3;
const CHANGES = 30;
/** Between two changes, so that they meet all moments of the page's own pauses. */
const BETWEEN_MS = 730;
const STEP_MS = 20;
const LIMIT_MS = 60_000;

const executable = browserPath();
if (executable === null) throw new Error('no Chromium: install it with apt-get install chromium, or set CHROMIUM_PATH');

const test = await openSystem({ name: 'bench-page-chain', policy: 'vigil' });
const { log, system } = test;
const partitions = await log.partitionCount(Topic.heartbeat);
const stopping = new AbortController();
const browser = await openBrowser(executable);

const send = (heartbeats: readonly Heartbeat[]) =>
  log.write(heartbeats.map((heartbeat) => recordOf(log, partitions, heartbeat)));

const beating = async (): Promise<void> => {
  const begun = performance.now();
  for (let sent = 0; !stopping.signal.aborted; await sleep(STEP_MS)) {
    const due = Math.floor(((performance.now() - begun) * AGENTS) / INTERVAL_MS);
    const now = Date.now();
    const ofAgent = (n: number) => working(`agent-${n % AGENTS}`, Math.floor(n / AGENTS) + 1, now);
    if (due > sent) await send(Array.from({ length: due - sent }, (_, i) => ofAgent(sent + i)));
    sent = due;
  }
};

/** When the evaluator wrote that the agent began: the time of the record, epoch milliseconds. */
const writtenAt = new Map<string, number>();
await log.follow(
  [Topic.agentHealth],
  'end',
  ({ key, value, timestamp }) => {
    if (key?.startsWith('new-') !== true || value === null) return;
    if (log.codec.decode(Topic.agentHealth, value).type === 'INSTANCE_STARTED') writtenAt.set(key, timestamp);
  },
  stopping.signal,
);

const openFleet = async (): Promise<Page> => {
  const { VIGIL_DASHBOARD_URL: url = '', VIGIL_DASHBOARD_TOKEN: token = '' } = system.env;
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${url}/v1/login-links`, { method: 'POST', headers });
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, locale: 'en-US' });
  page.setDefaultTimeout(LIMIT_MS);
  await page.goto(`${url}${((await answer.json()) as { readonly path: string }).path}`);
  await page.goto(`${url}/#/fleet`);
  await page.locator('.cell').first().waitFor();
  return page;
};

/** Waits for the frame in which an agent is among those that changed lately; when that was, epoch milliseconds. */
const drawnAt = (agentId: string) => `new Promise((resolve) => {
  const look = () => {
    if (document.querySelector('.lately')?.textContent.includes(${JSON.stringify(agentId)})) resolve(Date.now());
    else requestAnimationFrame(look);
  };
  look();
})`;

try {
  const beats = beating();
  await sleep(INTERVAL_MS + 1000);
  const page = await openFleet();
  const fromHeartbeat: number[] = [];
  const fromRecord: number[] = [];
  for (let count = 0; count < WARM + CHANGES; count += 1) {
    const agentId = `new-${count}.`;
    const drawn = page.evaluate(drawnAt(agentId));
    const sentAt = Date.now();
    await send([working(agentId, 1, sentAt)]);
    const at = Number(await drawn);
    // The page may have it before this process has read the record.
    while (!writtenAt.has(agentId)) await sleep(STEP_MS);
    const recordAt = writtenAt.get(agentId) ?? Number.NaN;
    if (count >= WARM) {
      fromHeartbeat.push(at - sentAt);
      fromRecord.push(at - recordAt);
      print(`change ${count - WARM + 1} of ${CHANGES}: ${at - recordAt} ms from the record`);
    }
    await sleep(BETWEEN_MS);
  }
  stopping.abort();
  await beats;
  const figures = (name: string, values: readonly number[]) => [
    { name: `${name}: p50`, unit: 'ms', runs: [quantile(values, 0.5)] },
    { name: `${name}: p95`, unit: 'ms', runs: [quantile(values, 0.95)] },
    { name: `${name}: each`, unit: 'ms', runs: values },
  ];
  report('page-chain', [
    ...figures('from the record to its row on the page', fromRecord),
    ...figures('from the heartbeat before it', fromHeartbeat),
  ]);
} finally {
  stopping.abort();
  await browser.close();
  await test.stop();
}
