export type { Amount, Period, Work } from './findings.ts';
export { changedDocument, type Limit, limitName } from './limits.ts';
export { NarrowTheSpan, worksOfSpan } from './span-works.ts';
export { type Tried, type Tuned, type Tuning, tune } from './tune.ts';
export { worksOfRuns, worksOfSessions } from './work.ts';
