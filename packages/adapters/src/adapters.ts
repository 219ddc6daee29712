import type { Adapter, CommandLine } from './adapter.ts';
import { claudeCode } from './claude-code/claude-code.ts';
import { codex } from './codex/codex.ts';
import { geminiCli } from './gemini-cli/gemini-cli.ts';

/** The clients that Vigil supports. Every other list of clients is derived from this one, or compared with it by a test. */
export const adapters = [claudeCode, codex, geminiCli] as const satisfies readonly Adapter[];

/** The adapter of the client that a command line starts; undefined for another program. */
export const adapterOf = (line: CommandLine): Adapter | undefined =>
  adapters.find(({ invocation }) => invocation(line) !== null);

export const adapterNamed = (name: string): Adapter | undefined => adapters.find((adapter) => adapter.name === name);
