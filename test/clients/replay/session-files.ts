import { at, textAt } from './fields.ts';
import type { TrueEvent } from './timeline.ts';

/** A line that a client writes into the file of a session. `agent`: the sub-agent that the file belongs to. */
export type Line = { readonly ms: number; readonly agent: string | null; readonly text: string };

/** The time in the files, by the clock of the host. */
export type AtTime = (ms: number) => string;

const line = (ms: number, agent: string | null, entry: unknown): Line => ({ ms, agent, text: JSON.stringify(entry) });

type Batches = Map<string | null, { readonly id: string; readonly calls: string[] }>;

const claudeLines = (events: readonly TrueEvent[], time: AtTime): readonly Line[] => {
  const batches: Batches = new Map();
  let answers = 0;
  const entry = (ms: number, agent: string | null, type: string, message: unknown): Line =>
    line(ms, agent, { type, message, timestamp: time(ms), isSidechain: agent !== null, agentId: agent ?? undefined });
  const answer = (ms: number, agent: string | null, id: string, content: unknown, stop_reason: string): Line =>
    entry(ms, agent, 'assistant', { id, role: 'assistant', model: 'm', content, stop_reason, usage: {} });
  return events.flatMap(({ ms, name, payload }): readonly Line[] => {
    const agent = textAt(payload, 'agent_id');
    switch (name) {
      case 'PreToolUse': {
        answers += 1;
        const batch = batches.get(agent) ?? { id: `m${answers}`, calls: [] };
        batches.set(agent, batch);
        const id = textAt(payload, 'tool_use_id') ?? '';
        batch.calls.push(id);
        const part = { type: 'tool_use', id, name: at(payload, 'tool_name'), input: at(payload, 'tool_input') };
        return [answer(ms, agent, batch.id, [part], 'tool_use')];
      }
      case 'PostToolBatch': {
        const calls = batches.get(agent)?.calls ?? [];
        batches.delete(agent);
        const results = calls.map((id) => ({ type: 'tool_result', tool_use_id: id, content: '' }));
        return [entry(ms, agent, 'user', { role: 'user', content: results })];
      }
      case 'Escape':
        return [entry(ms, null, 'user', { role: 'user', content: '[Request interrupted by user for tool use]' })];
      case 'Stop':
      case 'SubagentStop':
        answers += 1;
        return [answer(ms, agent, `m${answers}`, [{ type: 'text', text: '' }], 'end_turn')];
      default:
        return [];
    }
  });
};

const codexLines = (events: readonly TrueEvent[], time: AtTime): readonly Line[] => {
  const entry = (ms: number, type: string, payload: unknown): Line =>
    line(ms, null, { type, payload, timestamp: time(ms) });
  return events.flatMap(({ ms, name, payload }): readonly Line[] => {
    const call_id = textAt(payload, 'tool_use_id');
    switch (name) {
      case 'PreToolUse': {
        const args = JSON.stringify({ cmd: textAt(payload, 'tool_input', 'command') });
        return [entry(ms, 'response_item', { type: 'function_call', name: 'exec_command', arguments: args, call_id })];
      }
      case 'PostToolUse':
        return [entry(ms, 'response_item', { type: 'function_call_output', call_id, output: '' })];
      case 'Stop':
        return [entry(ms, 'event_msg', { type: 'task_complete' })];
      case 'Interrupt':
        return [entry(ms, 'event_msg', { type: 'turn_aborted' })];
      default:
        return [];
    }
  });
};

/** A complete answer has its tokens in the file. */
const geminiLines = (events: readonly TrueEvent[], time: AtTime): readonly Line[] =>
  events
    .filter(({ name }) => name === 'BeforeTool' || name === 'AfterAgent')
    .map(({ ms }, index) => {
      const tokens = { input: 1000, output: 20, cached: 0, thoughts: 0, tool: 0 };
      return line(ms, null, { id: `g${index}`, timestamp: time(ms), type: 'gemini', tokens, model: 'm' });
    });

const writers: Readonly<Record<string, typeof claudeLines>> = {
  'claude-code': claudeLines,
  codex: codexLines,
  'gemini-cli': geminiLines,
};

/** The lines that each client writes into its session file, in the format of the recorded files. */
export const linesOf = (client: string, events: readonly TrueEvent[], time: AtTime): readonly Line[] =>
  writers[client]?.(events, time) ?? [];
