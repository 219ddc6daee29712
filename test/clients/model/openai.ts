import { type Answer, reply, type ToolCall, usageOf } from './answer.ts';
import {
  type Exchange,
  type Json,
  listOf,
  type ModelApi,
  sendJson,
  startEventStream,
  textOf,
  type View,
} from './api.ts';
import { SUBAGENT_MARK } from './scenarios.ts';

const CALL_TYPES = new Set(['function_call', 'local_shell_call', 'custom_tool_call']);

const contentOf = (item: Json): string =>
  typeof item.content === 'string'
    ? item.content
    : listOf(item.content)
        .map((part) => textOf(part.text))
        .join('\n');

const outputOf = (item: Json): string => (typeof item.output === 'string' ? item.output : JSON.stringify(item.output));

/** The interactive Codex requests a title of its session in a separate conversation. */
const TITLE_REQUEST = 'Generate a concise, single-line task title';

const viewOf = (body: Json): View => {
  const items = listOf(body.input);
  const isCall = (item: Json | undefined): boolean => CALL_TYPES.has(textOf(item?.type));
  const firstCall = items.findIndex(isCall);
  const prompt = (firstCall === -1 ? items : items.slice(0, firstCall)).map(contentOf);
  const messages = items.filter((item) => item.role !== undefined && item.role !== 'assistant').map(contentOf);
  const outputs = items.filter((item) => textOf(item.type).endsWith('_output')).map(outputOf);
  return {
    turn: items.filter((item, index) => isCall(item) && !isCall(items[index - 1])).length,
    isSubagent: prompt.some((text) => text.includes(SUBAGENT_MARK)),
    inputs: [...messages, ...outputs],
    isMain: !messages.some((text) => text.startsWith(TITLE_REQUEST)),
  };
};

/** Codex offers one of three shell tools, depending on its model and settings. */
const shellCall = (tool: ToolCall & { kind: 'shell' }, offered: ReadonlySet<string>): Json => {
  const { timeoutMs, escalate } = tool.options;
  const timeout = timeoutMs === undefined ? {} : { timeout_ms: timeoutMs };
  const permission =
    escalate === true ? { sandbox_permissions: 'require_escalated', justification: 'Do you allow this?' } : {};
  // This one moves a command to the background after 10 s, unless a longer wait is set.
  const patience = timeoutMs === undefined ? {} : { yield_time_ms: timeoutMs };
  if (offered.has('exec_command'))
    return { name: 'exec_command', arguments: { cmd: tool.command, ...patience, ...permission } };
  if (offered.has('shell_command'))
    return { name: 'shell_command', arguments: { command: tool.command, ...timeout, ...permission } };
  return { name: 'shell', arguments: { command: ['bash', '-lc', tool.command], ...timeout, ...permission } };
};

const patchOf = (path: string, content: string): string => {
  const lines = content
    .trimEnd()
    .split('\n')
    .map((line) => `+${line}`);
  return ['*** Begin Patch', `*** Add File: ${path}`, ...lines, '*** End Patch'].join('\n');
};

const nativeCall = (tool: ToolCall, offered: ReadonlySet<string>): Json => {
  switch (tool.kind) {
    case 'shell':
      return shellCall(tool, offered);
    case 'read':
      return shellCall({ kind: 'shell', command: `cat ${tool.path}`, options: {} }, offered);
    case 'write': {
      if (offered.has('apply_patch')) return { name: 'apply_patch', patch: patchOf(tool.path, tool.content) };
      const command = `printf '${tool.content.replaceAll('\n', String.raw`\n`)}' > ${tool.path}`;
      return shellCall({ kind: 'shell', command, options: {} }, offered);
    }
    case 'native':
      return { name: tool.name, arguments: tool.input };
  }
};

/** Codex offers some tools in groups; a call names the group of its tool. */
const groupOf = (name: unknown, tools: readonly Json[]): Json => {
  const group = tools.find((entry) => listOf(entry.tools).some((tool) => tool.name === name));
  return group === undefined ? {} : { namespace: group.name };
};

const callItem = (tool: ToolCall, body: Json, newId: Exchange['newId']): Json => {
  const tools = listOf(body.tools);
  const native = nativeCall(tool, new Set(tools.map((entry) => textOf(entry.name ?? entry.type))));
  const group = groupOf(native.name, tools);
  const common = { call_id: newId('call'), name: native.name, ...group, status: 'completed' };
  return native.patch === undefined
    ? { type: 'function_call', id: newId('fc'), ...common, arguments: JSON.stringify(native.arguments) }
    : { type: 'custom_tool_call', id: newId('ctc'), ...common, input: native.patch };
};

const sendResponse = (
  { body, turn, response, newId }: Exchange,
  answer: Answer & { kind: 'message' | 'stall' },
): void => {
  startEventStream(response);
  let sequence = 0;
  const emit = (type: string, data: Json): void => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence, ...data })}\n\n`);
    sequence += 1;
  };
  const id = newId('resp');
  emit('response.created', {
    response: { id, object: 'response', status: 'in_progress', model: body.model, output: [] },
  });
  const text = [{ type: 'output_text', text: answer.text, annotations: [] }];
  const message: Json = { type: 'message', id: newId('msg'), role: 'assistant', status: 'completed', content: text };
  const calls = answer.kind === 'message' ? answer.calls : [];
  const output: readonly Json[] = [message, ...calls.map((tool) => callItem(tool, body, newId))];
  for (const [index, item] of output.entries()) {
    const empty = item === message ? { content: [] } : {};
    emit('response.output_item.added', { output_index: index, item: { ...item, ...empty, status: 'in_progress' } });
    if (item === message) {
      const place = { item_id: message.id, output_index: index, content_index: 0 };
      emit('response.output_text.delta', { ...place, delta: answer.text });
    }
    if (answer.kind === 'stall') return;
    emit('response.output_item.done', { output_index: index, item });
  }
  const { inputTokens, outputTokens } = usageOf(answer.kind === 'message' ? answer : { usage: null }, turn);
  const usage = {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: inputTokens + outputTokens,
  };
  emit('response.completed', {
    response: { id, object: 'response', status: 'completed', model: body.model, output, usage },
  });
  response.end();
};

/** The OpenAI Responses API, as Codex uses it. */
export const openaiApi: ModelApi = {
  client: 'codex',
  view: (path, body) => (path === '/responses' ? viewOf(body) : null),
  side: (path) =>
    path.endsWith('/models')
      ? { status: 200, body: { object: 'list', data: [], models: [] } }
      : { status: 404, body: { error: { message: path } } },
  aside: reply('A task'),
  respond: (exchange) => {
    const { answer, response } = exchange;
    switch (answer.kind) {
      case 'hang':
        return;
      case 'error': {
        const error = { type: answer.type, code: answer.type, message: answer.message };
        sendJson(response, answer.status, { error }, answer.headers);
        return;
      }
      case 'stall':
      case 'message':
        sendResponse(exchange, answer);
    }
  },
};
