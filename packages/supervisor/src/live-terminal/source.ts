import type { OutputReader } from '../output/output-reader.ts';
import type { AgentScreen } from '../screen/agent-screen.ts';

/** The terminal of one instance, as its supervisor sees it. */
export type SourceTerminal = {
  readonly lines: readonly string[];
  /** how many lines have left the screen at the top, or were printed, since the start */
  readonly passed: number;
  /** epoch milliseconds */
  readonly outputAt: number | null;
};

/** The lines of its screen and those above it. A program that prints to a pipe moves no cursor, so its lines are those that it has printed. */
export const shownTerminalOf = (screen: OutputReader, drawn: AgentScreen, now: number): SourceTerminal => {
  const { lastOutputAt: outputAt, lines: passed } = screen.facts(now);
  if (!drawn.hasReturned) return { lines: screen.tail.map(({ text }) => text), passed, outputAt };
  return { ...drawn.history, outputAt };
};
