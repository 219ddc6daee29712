import type { ContextUse, TokenUsage } from '@vigil/events';
import { tokensIn } from '../../shared/counts.ts';
import { at, countAt, textAt } from '../../shared/payload.ts';

/** Counts as the Messages API names them. */
export const usageIn = (usage: unknown): Omit<TokenUsage, 'model'> => ({
  input_tokens: countAt(usage, 'input_tokens'),
  cache_read_tokens: countAt(usage, 'cache_read_input_tokens'),
  cache_write_tokens: countAt(usage, 'cache_creation_input_tokens'),
  output_tokens: countAt(usage, 'output_tokens'),
});

/** The tokens in a message of the Messages API; null: Claude Code wrote the message itself. */
export const usageOf = (message: unknown): { readonly id: string; readonly tokens: TokenUsage } | null => {
  const id = textAt(message, 'id');
  const model = textAt(message, 'model');
  if (id === null || model === '<synthetic>') return null;
  return { id, tokens: { model, ...usageIn(at(message, 'usage')) } };
};

/**
 * The largest context window that a model offers, in tokens, by Anthropic's page on context windows: a million from generation 4.6 on, 200,000
 * before. Claude Code writes no window into its session file, and may use a smaller one. Null: the name is not known.
 */
const windowOf = (model: string): number | null => {
  const name = /^claude-[a-z]+-(\d+)(?:-(\d{1,2})(?!\d))?/.exec(model);
  if (name !== null) return Number(`${name[1]}.${name[2] ?? 0}`) >= 4.6 ? 1_000_000 : 200_000;
  return model.startsWith('claude-3') ? 200_000 : null;
};

/** How much of its window an answer has used: all that was sent, and the answer itself. Null: unknown. */
export const contextOf = (tokens: TokenUsage): ContextUse | null => {
  const max = tokens.model === null ? null : windowOf(tokens.model);
  return max === null ? null : { tokens_used: tokensIn(tokens), tokens_max: max };
};
