// Generated from packages/adapters/src/session/state.ts by `npm run generate`: for Node 18, which reads no TypeScript.
import { ownOf } from '../shared/own.mjs';
/**
 * A call in flight. `asked`: a person was asked for a permission for it. `pendingEnd`: it has ended so, unless the file of the session
 * shows another outcome; absent: it runs.
 */
/** The end of a call that no id names. `at`: epoch milliseconds */
/** A wait for a person, and the call that it is about; null: not known. */
/** What prevents the next answer. */
/** One agent of a session: its own, or one of its sub-agents. */
/** Plain JSON. `main` is the session's own agent. */
const noAgent             = {
  type: null,
  open: {},
  endedCalls: [],
  seenEnds: [],
  turn: null,
  closedAt: null,
  wait: null,
  obstacle: null,
  wakes: false,
  ended: false,
  phase: 'session',
  usage: [],
  context: null,
  costUsd: null,
  counts: null,
  counted: [],
};
export const newSession               = { main: noAgent, subagents: {} };
/** Sub-agents that are remembered; of more, those that ended first are forgotten. */
const mostSubagents = 50;
export const agentOf = (session              , id               )             =>
  id === null ? session.main : (ownOf(session.subagents, id) ?? { ...noAgent, phase: 'working' });
export const withAgent = (session              , id               , agent            )               => {
  if (id === null) return { ...session, main: agent };
  const subagents = { ...session.subagents, [id]: agent };
  const surplus = Object.keys(subagents).length - mostSubagents;
  if (surplus <= 0) return { ...session, subagents };
  const oldest = Object.keys(subagents)
    .filter((one) => subagents[one]?.ended)
    .slice(0, surplus);
  return {
    ...session,
    subagents: Object.fromEntries(Object.entries(subagents).filter(([one]) => !oldest.includes(one))),
  };
};
export const isWorking = ({ ended, turn, open }            )          =>
  !ended && (turn?.open === true || Object.keys(open).length > 0);
export const workingSubagents = ({ subagents }              )                    =>
  Object.keys(subagents).filter((id) => subagents[id] !== undefined && isWorking(subagents[id]));
