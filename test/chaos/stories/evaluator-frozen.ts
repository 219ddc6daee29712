import { setTimeout as sleep } from 'node:timers/promises';
import { Topic } from '@vigil/events';
import { expect } from 'vitest';
import { soak } from '../../support/system.ts';
import { type Ground, some, withHerd } from '../ground.ts';
import { reminded, replaced } from '../waits.ts';

/** Longer than the limit of silence, the lease of a warrant, and the session of a group member. */
const FROZEN_MS = soak(31_000, 300_000);

/** The evaluator is frozen during the intervention on two agents, and two more hang in the meantime. */
export const evaluatorFrozen = (ground: Ground): Promise<void> =>
  withHerd(ground, { name: 'frozen', straight: 15, throughHttp: 15 }, async (herd) => {
    const evaluator = ground.on.system.service('health-evaluator');
    const victims = some(ground, herd.agents, 4);
    const [before, during] = [victims.slice(0, 2), victims.slice(2)];
    herd.inject(before, 'silent');
    await reminded(ground, before);
    evaluator.freeze();
    await sleep(ground.random() * 3000);
    herd.inject(during, 'silent');
    await sleep(FROZEN_MS);
    const event = ground.received.of(Topic.agentOrder).map(({ key }) => key);
    expect(during.filter(({ agentId }) => event.includes(agentId))).toEqual([]);
    evaluator.thaw();
    await replaced(ground, victims);
  });
