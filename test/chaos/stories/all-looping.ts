import { Topic } from '@vigil/events';
import { expect } from 'vitest';
import { soak } from '../../support/system.ts';
import { budgetBroken, endsIn } from '../budget.ts';
import { type Ground, withHerd } from '../ground.ts';
import { replaced } from '../waits.ts';

const LOOPING = 200;
/** Destructive steps a minute. The governor's default of 10 needs the long form. */
export const BUDGET = soak(240, 10);
/** All agents belong to one of three runtimes, which may use half of the budget. */
const LONGEST_MS = (LOOPING / (BUDGET / 2)) * 60_000 + 120_000;

/** Two hundred agents loop for good, and thirty others work. */
export const allLooping = (ground: Ground): Promise<void> =>
  withHerd(ground, { name: 'many', straight: 15, throughHttp: LOOPING + 15 }, async (herd) => {
    const looping = herd.agents.slice(15, 15 + LOOPING);
    herd.inject(looping, 'loops');
    await replaced(ground, looping, LONGEST_MS);
    const rulings = await ground.on.events(Topic.stepRuling);
    const asked = await ground.on.events(Topic.admitStep);
    const ticks = await ground.on.records(Topic.fleetGovernance);
    const lookedAt = ticks.filter(({ key }) => key?.startsWith('@tick/')).map(({ timestamp }) => timestamp);
    const governed = { rulings, asked, lookedAt };
    expect(endsIn(governed).length).toBeGreaterThanOrEqual(LOOPING);
    expect(lookedAt).not.toEqual([]);
    expect(budgetBroken(governed, BUDGET)).toEqual([]);
  });
