import type { TokenUsage } from '@vigil/events';

/** The tokens of a session's answers. An answer is reported in several pieces, each with the use so far. */
export type Counts = {
  readonly earlier: readonly TokenUsage[];
  readonly current: { readonly id: string; readonly tokens: TokenUsage } | null;
};

export const noCounts: Counts = { earlier: [], current: null };

type Tokens = Omit<TokenUsage, 'model'>;

export const combined = (one: Tokens, more: Tokens, sign: 1 | -1): Tokens => ({
  input_tokens: one.input_tokens + sign * more.input_tokens,
  cache_read_tokens: one.cache_read_tokens + sign * more.cache_read_tokens,
  cache_write_tokens: one.cache_write_tokens + sign * more.cache_write_tokens,
  output_tokens: one.output_tokens + sign * more.output_tokens,
});

/** Adds the tokens of an answer, by model. */
export const added = (usage: readonly TokenUsage[], more: TokenUsage): readonly TokenUsage[] =>
  usage.some(({ model }) => model === more.model)
    ? usage.map((one) => (one.model === more.model ? { model: one.model, ...combined(one, more, 1) } : one))
    : [...usage, more];

/** By model. */
export const totals = ({ earlier, current }: Counts): readonly TokenUsage[] =>
  current === null ? earlier : added(earlier, current.tokens);

export const counted = (counts: Counts, id: string, tokens: TokenUsage): Counts =>
  counts.current?.id === id
    ? { ...counts, current: { id, tokens } }
    : { earlier: totals(counts), current: { id, tokens } };

export const tokensIn = (usage: Tokens): number =>
  usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens + usage.output_tokens;
