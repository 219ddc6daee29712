import { hash32 } from '../history/hash.ts';
import type { History } from '../history/history.ts';
import type { Beat } from '../history/moment.ts';
import type { Answer, Known } from './state.ts';

const ANSWER_CHARACTERS = 500;

/** Handoff, blockers, a probe's reply, or that it says how it is: each once. */
export function answering(state: Known, before: History, beat: Beat): Known {
  const words = beat.handoff === null && beat.blockers.length === 0 && beat.probe_reply === null ? '' : wordsOf(beat);
  const said = words === '' ? state.answered : hash32(words);
  // A client that reports a failed turn does not speak for its agent.
  const self = beat.activity === 'stuck' || (beat.activity === 'blocked' && beat.turn === null);
  if (said === state.answered && !self) return state;
  const answers: Answer[] = said === state.answered ? [] : answersOf(beat);
  if (self && before.activity.value !== beat.activity)
    answers.push({ how: 'self_report', nonce: null, text: `it says that it is ${beat.activity}` });
  return answers.length === 0 ? state : { ...state, answered: said, answers: [...state.answers, ...answers] };
}

const wordsOf = (beat: Beat): string =>
  [beat.handoff ?? '', ...beat.blockers, beat.probe_reply ?? ''].join('\n').trim();

function answersOf(beat: Beat): Answer[] {
  const text = (t: string) => t.slice(0, ANSWER_CHARACTERS);
  const answers: Answer[] = [];
  if (beat.handoff) answers.push({ how: 'handoff', nonce: null, text: text(beat.handoff) });
  if (beat.blockers.length > 0) answers.push({ how: 'blockers', nonce: null, text: text(beat.blockers.join('; ')) });
  if (beat.probe_reply) answers.push({ how: 'probe_reply', nonce: beat.probe_reply, text: null });
  return answers;
}
