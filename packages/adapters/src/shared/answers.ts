import type { HookText } from '../adapter.ts';

/** Several texts in one answer. */
export const joined = (texts: readonly HookText[]): string => texts.map(({ text }) => text).join('\n\n');

/** Hooks of Claude Code and of Codex that add a text to what the model reads. */
export const contextAnswer = (event: string, texts: readonly HookText[]): string =>
  JSON.stringify({ hookSpecificOutput: { hookEventName: event, additionalContext: joined(texts) } });

/** Hooks of Claude Code and of Codex before a call. */
export const refusalAnswer = (event: string, reason: string): string =>
  JSON.stringify({
    hookSpecificOutput: { hookEventName: event, permissionDecision: 'deny', permissionDecisionReason: reason },
  });

/** Hooks of Claude Code and of Codex at the end of a turn: the turn continues with the text. */
export const continuationAnswer = (texts: readonly HookText[]): string =>
  JSON.stringify({ decision: 'block', reason: joined(texts) });
