import type { TokenUsage } from '@vigil/events';
import { countAt } from '../../shared/payload.ts';

/** Codex counts the tokens that a cache has among those that went in. */
export const codexUsage = (counts: unknown, model: string | null): TokenUsage => {
  const cached = countAt(counts, 'cached_input_tokens');
  const written = countAt(counts, 'cache_write_input_tokens');
  return {
    model,
    input_tokens: Math.max(0, countAt(counts, 'input_tokens') - cached - written),
    cache_read_tokens: cached,
    cache_write_tokens: written,
    output_tokens: countAt(counts, 'output_tokens'),
  };
};
