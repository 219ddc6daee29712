import type { HookAbilities, HookAdapter, HookPayload, Transcript } from '../adapter.ts';
import { contextAnswer, continuationAnswer, refusalAnswer } from '../shared/answers.ts';
import { eventNameOf } from '../shared/hook-events.ts';
import { at, textAt } from '../shared/payload.ts';
import { codexEvents, codexEventsOf } from './events.ts';

/** After these, `additionalContext` reaches the model. */
const TAKES_CONTEXT: ReadonlySet<string> = new Set(['SessionStart', 'UserPromptSubmit', 'PostToolUse']);

const abilities = (payload: HookPayload): HookAbilities => {
  const event = eventNameOf(payload);
  const isOwn = textAt(payload, 'agent_id') === null;
  const continuesTurn = isOwn && event === 'Stop' && at(payload, 'stop_hook_active') !== true;
  return {
    takesText: continuesTurn || (isOwn && TAKES_CONTEXT.has(event)),
    continuesTurn,
    canRefuse: event === 'PreToolUse',
  };
};

/** The rollout of a sub-agent is a session of its own. Its own events name it as theirs; the report of its end has both. */
const transcriptsOf = (payload: HookPayload): readonly Transcript[] => {
  const agent = textAt(payload, 'agent_id');
  const path = textAt(payload, 'agent_transcript_path') ?? textAt(payload, 'transcript_path');
  return path === null ? [] : [{ path, agent }];
};

/** Codex refuses an answer with a field outside its schema, and continues as if the hook had failed. */
const answer: HookAdapter['answer'] = (payload, texts, refusal) => {
  const event = eventNameOf(payload);
  const { takesText, continuesTurn, canRefuse } = abilities(payload);
  if (refusal !== null && canRefuse) return refusalAnswer(event, refusal);
  if (texts.length === 0 || !takesText) return null;
  return continuesTurn ? continuationAnswer(texts) : contextAnswer(event, texts);
};

/** https://developers.openai.com/codex/hooks and the schemas in codex-rs/hooks/schema */
export const codexHooks: HookAdapter = {
  events: codexEvents,
  sessionOf: (payload) => textAt(payload, 'session_id'),
  transcriptsOf,
  abilities,
  reportsLimits: true,
  eventsOf: codexEventsOf,
  answer,
};
