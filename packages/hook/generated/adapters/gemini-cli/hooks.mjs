// Generated from packages/adapters/src/gemini-cli/hooks.ts by `npm run generate`: for Node 18, which reads no TypeScript.
import { contextAnswer, joined } from '../shared/answers.mjs';
import { eventNameOf } from '../shared/hook-events.mjs';
import { at, textAt } from '../shared/payload.mjs';
import { geminiEvents, geminiEventsOf } from './events.mjs';
/** After these, `additionalContext` reaches the model. */
const TAKES_CONTEXT                      = new Set(['SessionStart', 'BeforeAgent', 'AfterTool']);
const abilities = (payload             )                => {
  const event = eventNameOf(payload);
  const continuesTurn = event === 'AfterAgent' && at(payload, 'stop_hook_active') !== true;
  return {
    takesText: continuesTurn || TAKES_CONTEXT.has(event),
    continuesTurn,
    canRefuse: event === 'BeforeTool',
  };
};
const denied = (reason        )         => JSON.stringify({ decision: 'deny', reason });
const answer                        = (payload, texts, refusal) => {
  const { takesText, continuesTurn, canRefuse } = abilities(payload);
  if (refusal !== null && canRefuse) return denied(refusal);
  if (texts.length === 0 || !takesText) return null;
  return continuesTurn ? denied(joined(texts)) : contextAnswer(eventNameOf(payload), texts);
};
/** https://geminicli.com/docs/hooks/reference */
export const geminiHooks              = {
  events: geminiEvents,
  sessionOf: (payload) => textAt(payload, 'session_id'),
  transcriptsOf: (payload) => {
    const path = textAt(payload, 'transcript_path');
    return path === null ? [] : [{ path, agent: null }];
  },
  abilities,
  reportsLimits: false,
  eventsOf: geminiEventsOf,
  answer,
};
