import type { AtRest, Upgrade } from '@vigil/stream';
import { hash32 } from '../history/hash.ts';
import { AT_BIRTH } from '../history/initial-history.ts';
import { type AgentState, type Counted, type Known, NOTHING_TOLD, type Told } from './state.ts';

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

const usual12 = { ...USUAL, history: { ...USUAL.history, spend: { usage: [], costUsd: null } } };
const { presentSince: _since, presentUntil: _until, ...told11 } = USUAL.told;

/** Shape 12: when presence is said again. It is at once, for the topic may have lost it. */
const withPresence: Upgrade = {
  usual: { ...usual12, told: told11 },
  to: (state) => {
    const before = state as Known;
    if (before.kind !== 'known') return before;
    const told: Told = { ...before.told, presentSince: before.history.started.now, presentUntil: 0 };
    return { ...before, told };
  },
};

type Counted12 = { readonly tokens: number; readonly usd: number; readonly limit: Counted['limit'] };
type Spent12 = { readonly life: number } & { readonly [scope in 'agent' | 'task' | 'day']?: Counted12 };
type Known12 = Omit<Known, 'told'> & { readonly told: Omit<Told, 'spent'> & { readonly spent?: Spent12 } };

/** Shape 13: which session's count it is. What was counted before is counted of the present one. */
const withCounts: Upgrade = {
  usual: usual12,
  to: (state) => {
    const before = state as Known12;
    if (before.kind !== 'known') return before;
    const { identity, tokens, spend } = before.history;
    const { usage, costUsd } = spend;
    const id = identity.client?.session_id ?? null;
    const session = id === null ? null : hash32(id);
    const count = session ?? 0;
    const used = { tokens: tokens.count > 0 ? tokens.count : null, usage, costUsd };
    const { spent, ...told } = before.told;
    return {
      ...before,
      history: { ...before.history, spend: { ...used, session, count, stamp: 0 } },
      told: spent === undefined ? told : { ...told, spent: countedAs(spent, count) },
    };
  },
};

function countedAs({ life, agent, task, day }: Spent12, count: number): Told['spent'] {
  const one = (scope: 'agent' | 'task' | 'day', before: Counted12 | undefined) => {
    if (before === undefined) return {};
    const { tokens, usd, limit } = before;
    return { [scope]: { counts: [{ count, tokens, usd }], limit } };
  };
  return { life, ...one('agent', agent), ...one('task', task), ...one('day', day) };
}

/** How states lie in the snapshot: also for who reads them there. Whenever the state or the usual one changes, add an upgrade. */
export const AT_REST: AtRest<AgentState> = { oldest: 11, upgrades: [withPresence, withCounts], usual: USUAL };
