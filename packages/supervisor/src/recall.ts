import type { AgentSpec } from './agent.ts';
import type { Past } from './memory.ts';
import { compilePatterns } from './patterns.ts';
import { Screen } from './screen.ts';
import { watchOf } from './watch-of.ts';

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
