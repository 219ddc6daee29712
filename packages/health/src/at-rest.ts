import type { AtRest, Upgrade } from '@vigil/stream';
import { AT_BIRTH } from './history/at-birth.ts';
import { type AgentState, type Known, NOTHING_TOLD, type Told } from './state.ts';

/** A healthy agent that reports no more than it must: what is the same in a state takes no place at rest. */
const USUAL: Known = {
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

const { presentSince: _since, presentUntil: _until, ...told11 } = USUAL.told;

/** Shape 12: when presence is said again. It is at once, for the topic may have lost it. */
const withPresence: Upgrade = {
  usual: { ...USUAL, told: told11 },
  to: (state) => {
    const before = state as Known;
    if (before.kind !== 'known') return before;
    const told: Told = { ...before.told, presentSince: before.history.started.now, presentUntil: 0 };
    return { ...before, told };
  },
};

/** How states lie in the snapshot: also for who reads them there. Whenever the state or the usual one changes, add an upgrade. */
export const AT_REST: AtRest<AgentState> = { oldest: 11, upgrades: [withPresence], usual: USUAL };
