import type { AgentSpec } from '../agent/agent-spec.ts';
import type { Past } from '../agent/memory.ts';
import { Screen } from './output-reader.ts';
import { compilePatterns } from './patterns.ts';
import { watchOf } from './policy-reading.ts';

/** The screen as another supervisor had it: what that one has judged is shown again, and not judged again. */
export const recalled = ({ patterns }: AgentSpec, { memory, seen }: Past, decode: (data: Buffer) => string): Screen => {
  const screen = new Screen(compilePatterns(patterns), memory.startedAt);
  for (const text of memory.screen.told) screen.told(text);
  for (const { data, at } of seen) screen.write(decode(data), at);
  screen.recall(memory.screen);
  const { looksFor } = memory.known;
  if (looksFor === null) return screen;
  const { watch } = watchOf(looksFor.document);
  screen.watchFor(compilePatterns(patterns, watch), watch.tailLines);
  return screen;
};
