import type { TokenUsage } from '@vigil/events';

/** The tokens of a session's answers. An answer is reported in several pieces, each with its use so far. */
export type Counts = {
  readonly earlier: readonly TokenUsage[];
  readonly current: { readonly id: string; readonly tokens: TokenUsage } | null;
};

export const noCounts: Counts = { earlier: [], current: null };

const sum = (one: TokenUsage, more: TokenUsage): TokenUsage => ({
  model: one.model,
  input_tokens: one.input_tokens + more.input_tokens,
  cache_read_tokens: one.cache_read_tokens + more.cache_read_tokens,
  cache_write_tokens: one.cache_write_tokens + more.cache_write_tokens,
  output_tokens: one.output_tokens + more.output_tokens,
});

const added = (usage: readonly TokenUsage[], more: TokenUsage): readonly TokenUsage[] =>
  usage.some(({ model }) => model === more.model)
    ? usage.map((one) => (one.model === more.model ? sum(one, more) : one))
    : [...usage, more];

/** By model. */
export const totals = ({ earlier, current }: Counts): readonly TokenUsage[] =>
  current === null ? earlier : added(earlier, current.tokens);

export const counted = (counts: Counts, id: string, tokens: TokenUsage): Counts =>
  counts.current?.id === id
    ? { ...counts, current: { id, tokens } }
    : { earlier: totals(counts), current: { id, tokens } };

export const tokensIn = (usage: TokenUsage): number =>
  usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens + usage.output_tokens;
