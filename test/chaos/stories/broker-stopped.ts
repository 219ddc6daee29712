import { setTimeout as sleep } from 'node:timers/promises';
import { soak } from '../../support/system.ts';
import { type Ground, some, withHerd } from '../ground.ts';
import { reminded, replaced } from '../waits.ts';

const AWAY_MS = soak(12_000, 120_000);

/** The broker stops during the intervention on two agents, and two more agents hang in the meantime. */
export const brokerStopped = (ground: Ground): Promise<void> =>
  withHerd(ground, { name: 'stopped', straight: 15, throughHttp: 15 }, async (herd) => {
    const [kafka] = ground.on.servers.brokers;
    if (kafka === undefined) throw new Error('the broker is not ours to end');
    const victims = some(ground, herd.agents, 4);
    const [before, during] = [victims.slice(0, 2), victims.slice(2)];
    herd.inject(before, 'silent');
    await reminded(ground, before);
    await kafka.kill('SIGKILL');
    await sleep(ground.random() * 3000);
    herd.inject(during, 'silent');
    await sleep(AWAY_MS);
    await kafka.restart();
    await replaced(ground, victims);
  });
