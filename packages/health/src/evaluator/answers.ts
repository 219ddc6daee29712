import { hash32 } from '../history/hash.ts';
import type { History } from '../history/history.ts';
import type { Heartbeat } from '../history/moment.ts';
import type { Answer, KnownAgent } from './state.ts';

const ANSWER_CHARACTERS = 500;

/** A handoff, blockers, a probe's reply, or a state that the agent reports itself: each once. */
export function answering(state: KnownAgent, before: History, heartbeat: Heartbeat): KnownAgent {
  const words =
    heartbeat.handoff === null && heartbeat.blockers.length === 0 && heartbeat.probe_reply === null
      ? ''
      : wordsOf(heartbeat);
  const answered = words === '' ? state.answered : hash32(words);
  // A client that reports a failed turn does not speak for its agent.
  const self = heartbeat.activity === 'stuck' || (heartbeat.activity === 'blocked' && heartbeat.turn === null);
  if (answered === state.answered && !self) return state;
  const answers: Answer[] = answered === state.answered ? [] : answersOf(heartbeat);
  if (self && before.activity.value !== heartbeat.activity)
    answers.push({ how: 'self_report', nonce: null, text: `it reports that it is ${heartbeat.activity}` });
  return answers.length === 0 ? state : { ...state, answered, answers: [...state.answers, ...answers] };
}

const wordsOf = (heartbeat: Heartbeat): string =>
  [heartbeat.handoff ?? '', ...heartbeat.blockers, heartbeat.probe_reply ?? ''].join('\n').trim();

function answersOf(heartbeat: Heartbeat): Answer[] {
  const text = (t: string) => t.slice(0, ANSWER_CHARACTERS);
  const answers: Answer[] = [];
  if (heartbeat.handoff) answers.push({ how: 'handoff', nonce: null, text: text(heartbeat.handoff) });
  if (heartbeat.blockers.length > 0)
    answers.push({ how: 'blockers', nonce: null, text: text(heartbeat.blockers.join('; ')) });
  if (heartbeat.probe_reply) answers.push({ how: 'probe_reply', nonce: heartbeat.probe_reply, text: null });
  return answers;
}
