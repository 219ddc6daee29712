import { BreakerOpen, type Command, connect, fromEnvironment, type Vigil } from '@vigil/sdk';

/** What an agent does: it thinks, and it uses tools. */
export type Brain = {
  readonly think: (
    prompt: string,
  ) => Promise<{ readonly tool: string; readonly args: unknown; readonly tokens: number } | null>;
  readonly use: (tool: string, args: unknown) => Promise<string>;
};

/** An agent's loop that uses every feature of Vigil. Nothing here waits for Vigil, and nothing breaks without it. */
export const work = async (task: string, brain: Brain, vigil: Vigil): Promise<string> => {
  let prompt = task;
  const pending: Command[] = [];
  vigil.onCommand((command) => pending.push(command));
  for (;;) {
    const commands = pending.splice(0);
    const input = [
      prompt,
      ...commands.map((command) => ('message' in command ? command.message : command.reason)),
    ].join('\n\n');
    const toolCall = await vigil.call({ tool: 'model', kind: 'model', deadlineMs: 120_000 }, () => brain.think(input));
    for (const command of commands) if (command.kind === 'probe') command.reply(); // the model has read it only now
    if (toolCall === null) return prompt;
    const { tool, args, tokens } = toolCall;
    vigil.report({ phase: 'work', tokens, step: true });
    try {
      const call = { tool, args, mutating: tool === 'Edit', deadlineMs: 60_000 };
      prompt = await vigil.call(call, () => brain.use(tool, args));
    } catch (error) {
      const open = error instanceof BreakerOpen;
      prompt = open ? `${tool} keeps failing; do something else for now` : `${tool} failed: ${String(error)}`;
    }
  }
};

/**
 * One run: under `vigil run`, with VIGIL_GATEWAY_URL and VIGIL_GATEWAY_TOKEN, with KAFKA_BROKERS, or without any of
 * them.
 */
export const run = async (task: string, brain: Brain): Promise<string> => {
  const vigil = connect({ agentId: 'worker-1', ...fromEnvironment(), taskId: task });
  try {
    const result = await work(task, brain, vigil);
    await vigil.close({ reason: 'finished' });
    return result;
  } catch (error) {
    await vigil.close({ reason: 'crashed' });
    throw error;
  }
};
