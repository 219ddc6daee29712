import type { AtRest } from '@vigil/stream';
import { INITIAL_HISTORY } from '../history/initial-history.ts';
import { type AgentState, firstInstance, type KnownAgent } from './state.ts';

const FIRST = firstInstance('', INITIAL_HISTORY);
/** A healthy agent that reports no more than it must: fields of a state that equal these take no place at rest. */
const USUAL: KnownAgent = { ...FIRST, announced: { ...FIRST.announced, instanceNumber: 1, presentInstance: 1 } };

/** How states lie in the snapshot: also for readers of the snapshot. Whenever the state or the usual one changes, add an upgrade. */
export const AT_REST: AtRest<AgentState> = { oldest: 14, upgrades: [], usual: USUAL };
