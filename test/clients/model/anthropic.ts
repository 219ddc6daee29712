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

const blocksOf = (message: Json): readonly Json[] =>
  typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : listOf(message.content);

const textOfBlock = (block: Json): string => {
  if (block.type === 'text') return textOf(block.text);
  if (block.type !== 'tool_result') return '';
  return typeof block.content === 'string'
    ? block.content
    : listOf(block.content)
        .map((part) => textOf(part.text))
        .join('\n');
};

const viewOf = (body: Json): View => {
  const messages = listOf(body.messages);
  const isUse = (message: Json): boolean => blocksOf(message).some((block) => block.type === 'tool_use');
  const firstAnswer = messages.findIndex((message) => message.role === 'assistant');
  const prompt = (firstAnswer === -1 ? messages : messages.slice(0, firstAnswer)).flatMap(blocksOf).map(textOfBlock);
  return {
    turn: messages.filter((message) => message.role === 'assistant' && isUse(message)).length,
    isSubagent: prompt.some((text) => text.includes(SUBAGENT_MARK)),
    inputs: messages
      .filter((message) => message.role !== 'assistant')
      .flatMap(blocksOf)
      .map(textOfBlock),
    isMain: listOf(body.tools).length > 0,
  };
};

const nativeCall = (tool: ToolCall): { readonly name: string; readonly input: Json } => {
  switch (tool.kind) {
    case 'shell': {
      const { timeoutMs, background } = tool.options;
      const timeout = timeoutMs === undefined ? {} : { timeout: timeoutMs };
      const detached = background === true ? { run_in_background: true } : {};
      return { name: 'Bash', input: { command: tool.command, description: 'a command', ...timeout, ...detached } };
    }
    case 'read':
      return { name: 'Read', input: { file_path: tool.path } };
    case 'write':
      return { name: 'Write', input: { file_path: tool.path, content: tool.content } };
    case 'native':
      return { name: tool.name, input: tool.input };
  }
};

const sendMessage = (
  { body, turn, response, newId }: Exchange,
  answer: Answer & { kind: 'message' | 'stall' },
): void => {
  const calls = answer.kind === 'message' ? answer.calls : [];
  const tokens = usageOf(answer.kind === 'message' ? answer : { usage: null }, turn);
  const usage = {
    input_tokens: tokens.inputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: tokens.outputTokens,
  };
  const content: readonly Json[] = [
    { type: 'text', text: answer.text },
    ...calls.map((tool) => ({ type: 'tool_use', id: newId('toolu'), ...nativeCall(tool) })),
  ];
  const stopReason = calls.length > 0 ? 'tool_use' : 'end_turn';
  const message = { id: newId('msg'), type: 'message', role: 'assistant', model: body.model, stop_sequence: null };
  if (body.stream !== true) {
    if (answer.kind === 'message') sendJson(response, 200, { ...message, content, stop_reason: stopReason, usage });
    return;
  }
  startEventStream(response);
  const emit = (type: string, data: Json): void => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  };
  const started = { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } };
  emit('message_start', { message: started });
  for (const [index, block] of content.entries()) {
    const isText = block.type === 'text';
    const empty = isText ? { ...block, text: '' } : { ...block, input: {} };
    emit('content_block_start', { index, content_block: empty });
    const delta = isText
      ? { type: 'text_delta', text: block.text }
      : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) };
    emit('content_block_delta', { index, delta });
    if (answer.kind === 'stall') return;
    emit('content_block_stop', { index });
  }
  const end = { stop_reason: stopReason, stop_sequence: null };
  emit('message_delta', { delta: end, usage: { output_tokens: usage.output_tokens } });
  emit('message_stop', {});
  response.end();
};

/** The Anthropic Messages API, as Claude Code uses it. */
export const anthropicApi: ModelApi = {
  client: 'claude-code',
  view: (path, body) => (path === '/v1/messages' ? viewOf(body) : null),
  side: (path) =>
    path.endsWith('/count_tokens')
      ? { status: 200, body: { input_tokens: 1000 } }
      : { status: 404, body: { type: 'error', error: { type: 'not_found_error', message: path } } },
  aside: reply('{"title":"A task"}'),
  respond: (exchange) => {
    const { answer, response, newId } = exchange;
    switch (answer.kind) {
      case 'hang':
        return;
      case 'error': {
        const error = { type: answer.type, message: answer.message };
        const id = newId('req');
        sendJson(
          response,
          answer.status,
          { type: 'error', error, request_id: id },
          { 'request-id': id, ...answer.headers },
        );
        return;
      }
      case 'stall':
      case 'message':
        sendMessage(exchange, answer);
    }
  },
};
