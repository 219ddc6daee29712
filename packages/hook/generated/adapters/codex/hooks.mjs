// Generated from packages/adapters/src/codex/hooks.ts by `npm run generate`: for Node 18, which reads no TypeScript.
import { contextAnswer, continuationAnswer, refusalAnswer } from '../shared/answers.mjs';
import { eventNameOf } from '../shared/hook-events.mjs';
import { at, textAt } from '../shared/payload.mjs';
import { codexEvents, codexEventsOf } from './events.mjs';
/** After these, `additionalContext` reaches the model. */
const TAKES_CONTEXT                      = new Set(['SessionStart', 'UserPromptSubmit', 'PostToolUse']);
const abilities = (payload             )                => {
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
const transcriptsOf = (payload             )                        => {
  const agent = textAt(payload, 'agent_id');
  const path = textAt(payload, 'agent_transcript_path') ?? textAt(payload, 'transcript_path');
  return path === null ? [] : [{ path, agent }];
};
/** Codex refuses an answer with a field that its schema does not have, and goes on as if the hook had failed. */
const answer                        = (payload, texts, refusal) => {
  const event = eventNameOf(payload);
  const { takesText, continuesTurn, canRefuse } = abilities(payload);
  if (refusal !== null && canRefuse) return refusalAnswer(event, refusal);
  if (texts.length === 0 || !takesText) return null;
  return continuesTurn ? continuationAnswer(texts) : contextAnswer(event, texts);
};
/** https://developers.openai.com/codex/hooks and the schemas in codex-rs/hooks/schema */
export const codexHooks              = {
  events: codexEvents,
  sessionOf: (payload) => textAt(payload, 'session_id'),
  transcriptsOf,
  abilities,
  reportsLimits: true,
  eventsOf: codexEventsOf,
  answer,
};
