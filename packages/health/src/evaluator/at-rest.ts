import type { AtRest } from '@vigil/stream';
import { INITIAL_HISTORY } from '../history/initial-history.ts';
import { type AgentState, type KnownAgent, NOTHING_ANNOUNCED } from './state.ts';

/** A healthy agent that reports no more than it must: what is the same in a state takes no place at rest. */
const USUAL: KnownAgent = {
  kind: 'known',
  agentId: '',
  policy: { name: '', hash: '' },
  requestedPolicy: null,
  excluded: false,
  history: INITIAL_HISTORY,
  instanceNumber: 1,
  previousInstanceId: null,
  displacing: false,
  retired: [],
  stragglers: null,
  answers: [],
  resets: [],
  answered: 0,
  tickets: [],
  announced: { ...NOTHING_ANNOUNCED, instanceNumber: 1, presentInstance: 1 },
};

/** How states lie in the snapshot: also for readers of the snapshot. Whenever the state or the usual one changes, add an upgrade. */
export const AT_REST: AtRest<AgentState> = { oldest: 14, upgrades: [], usual: USUAL };
