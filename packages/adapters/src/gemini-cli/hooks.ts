import type { HookAbilities, HookAdapter, HookPayload } from '../adapter.ts';
import { contextAnswer, joined } from '../shared/answers.ts';
import { eventNameOf } from '../shared/hook-events.ts';
import { at, textAt } from '../shared/payload.ts';
import { geminiEvents, geminiEventsOf } from './events.ts';

/** After these, `additionalContext` reaches the model. */
const TAKES_CONTEXT: ReadonlySet<string> = new Set(['SessionStart', 'BeforeAgent', 'AfterTool']);

const abilities = (payload: HookPayload): HookAbilities => {
  const event = eventNameOf(payload);
  const continuesTurn = event === 'AfterAgent' && at(payload, 'stop_hook_active') !== true;
  return {
    takesText: continuesTurn || TAKES_CONTEXT.has(event),
    continuesTurn,
    canRefuse: event === 'BeforeTool',
  };
};

const denied = (reason: string): string => JSON.stringify({ decision: 'deny', reason });

const answer: HookAdapter['answer'] = (payload, texts, refusal) => {
  const { takesText, continuesTurn, canRefuse } = abilities(payload);
  if (refusal !== null && canRefuse) return denied(refusal);
  if (texts.length === 0 || !takesText) return null;
  return continuesTurn ? denied(joined(texts)) : contextAnswer(eventNameOf(payload), texts);
};

/** https://geminicli.com/docs/hooks/reference */
export const geminiHooks: HookAdapter = {
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
