import { setTimeout as sleep } from 'node:timers/promises';
import { call, type Desk, finish, part, print, stepReached } from './work.ts';

/** Resolves with the text of the first nudge. */
export type Nudged = Promise<string>;
export type Behaviour = (desk: Desk, nudged: Nudged) => Promise<void>;

const forEver = (): Promise<void> => new Promise(() => void setInterval(() => {}, 60_000));
/** Longer than any demonstration. */
const ENDLESS = 1_000_000;

const steady: Behaviour = (desk) => finish(desk, ENDLESS);

/** The first instance becomes silent in the middle of its task, also after a nudge; its replacement finishes. */
const hangs: Behaviour = async (desk) => {
  if (desk.attempt > 0) {
    print(`continuing after part ${stepReached(desk)}`);
    return finish(desk, 10);
  }
  for (let step = 1; step <= 5; step += 1) await part(desk, step, 10);
  print('part 6 of 10');
  return forEver();
};

const untilNudged = async (nudged: Nudged, attempt: () => Promise<void>): Promise<void> => {
  let isNudged = false;
  void nudged.then(() => {
    isNudged = true;
  });
  while (!isNudged) await attempt();
};

/** The same failing command again and again, until a nudge arrives. */
const loops: Behaviour = async (desk, nudged) => {
  await part(desk, 1, ENDLESS);
  await untilNudged(nudged, async () => {
    print('$ npm test -- parser');
    print('Error: Cannot find module ./parser');
    await call(desk, 'Bash', 'npm test -- parser', 300, {
      outcome: 'error',
      result: 'Cannot find module ./parser',
      errorClass: 'tool_error',
    });
    await sleep(1200);
  });
  print('reminded; trying something else');
  return finish(desk, ENDLESS, 2);
};

/** The model refuses its requests. The agent is healthy and must wait for a while. */
const limited: Behaviour = async (desk, nudged) => {
  await part(desk, 1, ENDLESS);
  await untilNudged(nudged, async () => {
    print('HTTP 429 Too Many Requests: rate limit reached');
    await call(desk, 'model', 'next step', 200, { outcome: 'error', result: 'rate limit', errorClass: 'rate_limit' });
    await sleep(2000);
  });
  print('continues after a message');
  return finish(desk, ENDLESS, 2);
};

const crashes: Behaviour = async (desk) => {
  await call(desk, 'Read', 'settings', 500, { outcome: 'ok', result: 'settings' });
  await sleep(2500);
  print('Error: segment 7 of the index is damaged');
  process.exitCode = 1;
};

/** Asks a question that only a person can answer. */
const waits: Behaviour = async (desk) => {
  await part(desk, 1, 2);
  process.stdout.write('report.md exists already. Overwrite it? [y/N] ');
  const answer = await new Promise<string>((resolve) => process.stdin.once('data', (data) => resolve(data.toString())));
  // Otherwise the open input keeps the process alive after its last part.
  process.stdin.pause().unref();
  print(`answered: ${answer.trim()}`);
  return finish(desk, 2, 2);
};

const finishes: Behaviour = (desk) => finish(desk, 6);

/** The behaviours of a supervised agent: each has one outcome. */
export const behaviours: Readonly<Record<string, Behaviour>> = {
  steady,
  hangs,
  loops,
  limited,
  crashes,
  waits,
  finishes,
};
