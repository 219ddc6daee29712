import type { AtRest } from '@vigil/stream';
import { AT_BIRTH } from './history/at-birth.ts';
import { type AgentState, NOTHING_TOLD } from './state.ts';

/** A healthy agent that reports no more than it must: what is the same in a state takes no place at rest. */
const USUAL: AgentState = {
  kind: 'known',
  agentId: '',
  policy: { name: '', hash: '' },
  wish: null,
  excluded: false,
  history: AT_BIRTH,
  life: 1,
  previousInstanceId: null,
  displacing: false,
  retired: [],
  stragglers: null,
  answers: [],
  resets: [],
  answered: 0,
  tickets: [],
  told: { ...NOTHING_TOLD, life: 1, presentLife: 1 },
};

/** How states lie in the snapshot: also for who reads them there. Whenever the state or the usual one changes, add an upgrade. */
export const AT_REST: AtRest<AgentState> = { oldest: 11, upgrades: [], usual: USUAL };
