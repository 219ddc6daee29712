import type { AgentRow, FiguresResult, ReplayComparison, ReplayOutcome, ReplayResult } from '@vigil/read-model';
import type { ReplaySpec } from '../../services/dashboard/src/replays/fold.ts';

const MINUTE = 60_000;
const TOPIC = 'onex.evt.heartbeat-ingest.agent-observation.v1';

const state = (from: string, to: string, reason: string): ReplayOutcome => ({ kind: 'state', from, to, reason });
const begins = (...steps: readonly string[]): ReplayOutcome => ({ kind: 'plan_begins', plan: 'STUCK, FAILING', steps });
const PLAN = begins('nudge', 'alert', 'handoff', 'escalate', 'terminate', 'recover');

/** Silence that grew in the last minutes, and a rate of errors without a limit. */
const figures = (at: readonly number[]): FiguresResult => ({
  ...{ kind: 'figures', observations: 412, isEarlier: false, at },
  signals: [
    { signal: 'no_calls', isDuration: true, limit: 360_000, values: at.map((_, n) => n * MINUTE) },
    { signal: 'no_output', isDuration: true, limit: null, values: at.map(() => null) },
  ],
});

/** What a replay of the world finds: differences of three agents. */
export const replayResult = ({ kind }: ReplaySpec, agents: readonly AgentRow[], now: number): ReplayResult => {
  if (kind === 'figures') return figures([5, 4, 3, 2, 1].map((minutes) => now - minutes * MINUTE));
  const at = (minutes: number) => now - minutes * MINUTE;
  const nameOf = (index: number): string => agents[index]?.agentId ?? '';
  const counts = { observations: 118_204, agents: 186, earlierCount: 2, earlier: [nameOf(5), nameOf(28)] };
  if (kind === 'verify') {
    const changed = (index: number, to: string, reason: string) => ({
      type: 'HEALTH_STATE_CHANGED',
      payload: { agentId: nameOf(index), from: 'HEALTHY', to, reason },
    });
    return {
      ...{ kind, ...counts, decisions: 2114, newer: 0, unreadable: 1, differentCount: 2 },
      differences: [
        {
          ...{ agent: nameOf(17), at: at(11), position: `${TOPIC}/2/48113` },
          recorded: changed(17, 'FAILING', '14 calls failed in a row; limit 8'),
          decided: changed(17, 'STUCK', '14 calls failed in a row; limit 8'),
          reason: 'payload.to: "FAILING" is recorded, "STUCK" is decided now',
        },
        {
          ...{ agent: nameOf(58), at: at(3), position: null, decided: null },
          recorded: changed(58, 'DEGRADED', 'context 91 %; limit 85 %'),
          reason: 'HEALTH_STATE_CHANGED is recorded, and is not decided now',
        },
      ],
    };
  }
  const compared = (
    minutes: number,
    recorded: ReplayOutcome | null,
    otherwise: ReplayOutcome | null,
  ): ReplayComparison => ({
    ...{ at: at(minutes), position: `${TOPIC}/1/${50_000 - Math.round(minutes * 60)}`, recorded, otherwise },
    isSame: recorded !== null && otherwise !== null,
  });
  const isSame = { before: 0, after: 0 };
  const stuck = state('HEALTHY', 'STUCK', 'no call for 6 min; limit 6 min');
  return {
    ...{ kind, ...counts, differentCount: 103, actedOtherwise: 2 },
    recorded: { stuck: 3, degraded: 4, plans: 3 },
    otherwise: { stuck: 1, degraded: 6, plans: 1 },
    different: [
      {
        ...{ agent: nameOf(17), leftOut: { before: 12, after: 0 }, differsFrom: at(11) },
        outcomes: [
          compared(26, state('STUCK', 'HEALTHY', 'a call began'), state('STUCK', 'HEALTHY', 'a call began')),
          compared(14, state('HEALTHY', 'DEGRADED', '6 calls failed in a row; limit 6'), null),
          compared(11, state('DEGRADED', 'FAILING', '8 calls failed in a row; limit 8'), null),
          compared(11, PLAN, null),
          compared(11, null, state('HEALTHY', 'DEGRADED', '8 calls failed in a row; limit 8')),
        ],
      },
      {
        ...{ agent: nameOf(3), leftOut: isSame, differsFrom: at(3) },
        outcomes: [compared(3, stuck, stuck), compared(3, PLAN, null), compared(3, null, begins('alert', 'escalate'))],
      },
      {
        ...{ agent: nameOf(58), leftOut: isSame, differsFrom: null },
        outcomes: [compared(2.9, null, state('HEALTHY', 'DEGRADED', 'context 82 %; limit 80 %'))],
      },
    ],
  };
};
