import type { HookAbilities, HookAdapter, HookPayload, Transcript } from '../adapter.ts';
import { contextAnswer, continuationAnswer, refusalAnswer } from '../shared/answers.ts';
import { eventNameOf } from '../shared/hook-events.ts';
import { at, textAt } from '../shared/payload.ts';
import { claudeEvents, claudeEventsOf } from './events.ts';

/** After these, `additionalContext` reaches the model. */
const TAKES_CONTEXT: ReadonlySet<string> = new Set([
  'SessionStart',
  'UserPromptSubmit',
  'PostToolUse',
  'PostToolUseFailure',
  'PostToolBatch',
]);

/** A text is for the session's own agent: a sub-agent's event carries none. A turn is continued at most once. */
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

/** A sub-agent has a file beside that of its session. */
const transcriptsOf = (payload: HookPayload): readonly Transcript[] => {
  const path = textAt(payload, 'transcript_path');
  if (path === null) return [];
  const agent = textAt(payload, 'agent_id');
  if (agent === null) return [{ path, agent: null }];
  const beside = `${path.replace(/\.jsonl$/, '')}/subagents/agent-${agent}.jsonl`;
  return [
    { path, agent: null },
    { path: textAt(payload, 'agent_transcript_path') ?? beside, agent },
  ];
};

const answer: HookAdapter['answer'] = (payload, texts, refusal) => {
  const event = eventNameOf(payload);
  const { takesText, continuesTurn, canRefuse } = abilities(payload);
  if (refusal !== null && canRefuse) return refusalAnswer(event, refusal);
  if (texts.length === 0 || !takesText) return null;
  return continuesTurn ? continuationAnswer(texts) : contextAnswer(event, texts);
};

/** https://code.claude.com/docs/en/hooks */
export const claudeHooks: HookAdapter = {
  events: claudeEvents,
  sessionOf: (payload) => textAt(payload, 'session_id'),
  transcriptsOf,
  abilities,
  reportsLimits: true,
  eventsOf: claudeEventsOf,
  answer,
};
