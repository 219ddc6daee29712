import type { AgentSpec } from '../agent/agent-spec.ts';
import type { Past } from '../agent/memory.ts';
import { OutputReader } from './output-reader.ts';
import { compilePatterns } from './patterns.ts';
import { readPolicyPatterns } from './policy-patterns.ts';

/** The screen as another supervisor had it: what that one has judged is shown again, and not judged again. */
export const restoreOutput = (
  { patterns }: AgentSpec,
  { memory, seen }: Past,
  decode: (data: Buffer) => string,
): OutputReader => {
  const screen = new OutputReader(compilePatterns(patterns), memory.startedAt);
  for (const text of memory.screen.sent) screen.sent(text);
  for (const { data, at } of seen) screen.write(decode(data), at);
  screen.recall(memory.screen);
  const { looksFor } = memory.observed;
  if (looksFor === null) return screen;
  const { policyPatterns } = readPolicyPatterns(looksFor.document);
  screen.usePatterns(compilePatterns(patterns, policyPatterns), policyPatterns.tailLines);
  return screen;
};
