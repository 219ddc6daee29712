import { type Answer, reply, type ToolCall, usageOf } from './answer.ts';
import {
  type Exchange,
  isJson,
  type Json,
  listOf,
  type ModelApi,
  sendJson,
  startEventStream,
  textOf,
  type View,
} from './api.ts';

const partsOf = (content: Json): readonly Json[] => listOf(content.parts);

const textOfPart = (part: Json): string =>
  isJson(part.functionResponse) ? JSON.stringify(part.functionResponse.response) : textOf(part.text);

const viewOf = (body: Json): View => {
  const contents = listOf(body.contents);
  const calls = (content: Json): boolean => partsOf(content).some((part) => part.functionCall !== undefined);
  return {
    turn: contents.filter((content) => content.role === 'model' && calls(content)).length,
    isSubagent: false,
    inputs: contents
      .filter((content) => content.role !== 'model')
      .flatMap(partsOf)
      .map(textOfPart),
    isMain: listOf(body.tools).length > 0,
  };
};

const nativeCall = (tool: ToolCall): Json => {
  switch (tool.kind) {
    case 'shell':
      return { name: 'run_shell_command', args: { command: tool.command, description: 'a command' } };
    case 'read':
      return { name: 'read_file', args: { file_path: tool.path } };
    case 'write':
      return { name: 'write_file', args: { file_path: tool.path, content: tool.content } };
    case 'native':
      return { name: tool.name, args: tool.input };
  }
};

const sendContent = (
  { path, turn, response, newId }: Exchange,
  answer: Answer & { kind: 'message' | 'stall' },
): void => {
  const calls = answer.kind === 'message' ? answer.calls : [];
  const parts: readonly Json[] = [
    { text: answer.text },
    ...calls.map((tool) => ({ functionCall: { id: newId('fc'), ...nativeCall(tool) } })),
  ];
  const { inputTokens, outputTokens } = usageOf(answer.kind === 'message' ? answer : { usage: null }, turn);
  const content = { role: 'model', parts };
  const chunk = {
    candidates: [answer.kind === 'stall' ? { content, index: 0 } : { content, finishReason: 'STOP', index: 0 }],
    usageMetadata: {
      promptTokenCount: inputTokens,
      candidatesTokenCount: outputTokens,
      totalTokenCount: inputTokens + outputTokens,
    },
    modelVersion: 'scripted',
  };
  if (!/stream/i.test(path)) {
    if (answer.kind === 'message') sendJson(response, 200, chunk);
    return;
  }
  startEventStream(response);
  response.write(`data: ${JSON.stringify(chunk)}\r\n\r\n`);
  if (answer.kind === 'message') response.end();
};

const sendError = ({ response }: Exchange, answer: Answer & { kind: 'error' }): void => {
  const seconds = answer.headers['retry-after'];
  const retry = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${seconds}s` };
  const error = {
    code: answer.status,
    message: answer.message,
    status: answer.status === 429 ? 'RESOURCE_EXHAUSTED' : 'INVALID_ARGUMENT',
    details: seconds === undefined ? [] : [retry],
  };
  sendJson(response, answer.status, { error }, answer.headers);
};

/** The answer of Gemini CLI's router, which chooses a model before each prompt. */
const ROUTE = {
  complexity_reasoning: 'simple',
  complexity_score: 10,
  reasoning: 'none',
  next_speaker: 'user',
  model_choice: 'flash',
};

/** The Gemini generateContent API, as Gemini CLI uses it. */
export const geminiApi: ModelApi = {
  client: 'gemini-cli',
  view: (path, body) => (/generateContent/i.test(path) ? viewOf(body) : null),
  side: (path) =>
    path.includes(':countTokens')
      ? { status: 200, body: { totalTokens: 1000 } }
      : { status: 404, body: { error: { code: 404, message: path, status: 'NOT_FOUND' } } },
  aside: reply(JSON.stringify(ROUTE)),
  respond: (exchange) => {
    const { answer } = exchange;
    switch (answer.kind) {
      case 'hang':
        return;
      case 'error':
        sendError(exchange, answer);
        return;
      case 'stall':
      case 'message':
        sendContent(exchange, answer);
    }
  },
};
