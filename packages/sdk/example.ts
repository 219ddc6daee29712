import { BreakerOpen, connect, fromEnvironment, type Vigil, type Word } from '@vigil/sdk';

/** What an agent does at all: think, and use a tool. */
export type Brain = {
  readonly think: (
    prompt: string,
  ) => Promise<{ readonly tool: string; readonly args: unknown; readonly tokens: number } | null>;
  readonly use: (tool: string, args: unknown) => Promise<string>;
};

/** An agent's loop with everything that Vigil can use of it. Nothing here waits for Vigil, and nothing breaks where there is none. */
export const work = async (task: string, brain: Brain, vigil: Vigil): Promise<string> => {
  let prompt = task;
  const heard: Word[] = [];
  vigil.onWord((word) => heard.push(word));
  for (;;) {
    const words = heard.splice(0);
    const asked = [prompt, ...words.map((word) => (word.kind === 'shutdown' ? word.reason : word.message))].join(
      '\n\n',
    );
    const wanted = await vigil.call({ tool: 'model', kind: 'model', deadlineMs: 120_000 }, () => brain.think(asked));
    for (const word of words) if (word.kind === 'probe') word.reply(); // only now has somebody read it
    if (wanted === null) return prompt;
    const { tool, args, tokens } = wanted;
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

/** One run: under `vigil run`, or with VIGIL_GATEWAY_URL and VIGIL_GATEWAY_TOKEN, or with KAFKA_BROKERS, or with nothing at all. */
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
