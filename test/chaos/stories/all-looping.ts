import { Topic } from '@vigil/events';
import { expect } from 'vitest';
import { soak } from '../../support/system.ts';
import { budgetBroken, endsIn } from '../budget.ts';
import { type Ground, withHerd } from '../ground.ts';
import { replaced } from '../waits.ts';

/** More than the runtime may end within a minute, so the budget delays some of them. */
export const LOOPING = soak(90, 200);
/** Destructive steps a minute. The governor's default of 10 needs the long form. */
export const BUDGET = soak(120, 10);
/** All looping agents belong to one of at least two runtimes, which may use half of the budget. */
const LONGEST_MS = (LOOPING / (BUDGET / 2)) * 60_000 + 120_000;

/** Many agents loop for good, and thirty others work. Another runtime has one agent all the time. */
export const allLooping = (ground: Ground): Promise<void> =>
  withHerd(ground, { name: 'beside', straight: 1, throughHttp: 0 }, () => loopingBeside(ground));

const loopingBeside = (ground: Ground): Promise<void> =>
  withHerd(ground, { name: 'many', straight: 15, throughHttp: LOOPING + 15 }, async (herd) => {
    const those = herd.agents.slice(15, 15 + LOOPING);
    herd.inject(those, 'loops');
    await replaced(ground, those, LONGEST_MS);
    const rulings = await ground.on.events(Topic.stepRuling);
    const asked = await ground.on.events(Topic.admitStep);
    const ticks = await ground.on.records(Topic.fleetGovernance);
    const lookedAt = ticks.filter(({ key }) => key?.startsWith('@tick/')).map(({ timestamp }) => timestamp);
    const governed = { rulings, asked, lookedAt };
    expect(endsIn(governed).length).toBeGreaterThanOrEqual(LOOPING);
    expect(lookedAt).not.toEqual([]);
    expect(budgetBroken(governed, BUDGET)).toEqual([]);
  });
