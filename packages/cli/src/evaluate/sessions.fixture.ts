/** Small files of sessions as clients write them. Every call has the same result where it has the same command. */

export type Session = {
  /** shell commands, one an answer of the model; each takes a second */
  readonly commands: readonly string[];
  /** the model reports that it is done */
  readonly isDone: boolean;
  /** the commands that fail; absent: none */
  readonly failing?: readonly string[];
};

const T0 = Date.UTC(2026, 10, 23, 4);
/** Seconds after the session's start, as clients write it. */
const at = (seconds: number): string => new Date(T0 + 1000 * seconds).toISOString();
const resultOf = (command: string): string => `result of ${command}`;
const fails = ({ failing }: Session, command: string): boolean => failing?.includes(command) === true;
const lines = (entries: readonly unknown[]): string => `${entries.map((entry) => JSON.stringify(entry)).join('\n')}\n`;

/** `from`: seconds until it begins. `subagent`: whose file it is. */
type Part = { readonly from?: number; readonly subagent?: { readonly id: string; readonly type: string } };

export const claudeCodeFile = (session: Session, { from = 0, subagent }: Part = {}): string => {
  const { commands, isDone } = session;
  const about = subagent && { agentId: subagent.id, attributionAgent: subagent.type };
  const entry = (seconds: number, type: string, message: object) => ({
    type,
    sessionId: 's-claude',
    isSidechain: subagent !== undefined,
    ...about,
    timestamp: at(from + seconds),
    message,
  });
  const answer = (seconds: number, id: string, stop_reason: string, content: object) =>
    entry(seconds, 'assistant', { id, model: 'm', stop_reason, usage: { input_tokens: 9 }, content: [content] });
  return lines([
    { type: 'summary', summary: 'an earlier session', leafUuid: 'u-1' },
    entry(0, 'user', { content: 'do the task' }),
    ...commands.flatMap((command, i) => {
      const id = `${subagent?.id ?? 't'}-${from + i}`;
      return [
        answer(3 * i + 1, `m-${id}`, 'tool_use', { type: 'tool_use', id, name: 'Bash', input: { command } }),
        entry(3 * i + 2, 'user', {
          content: [
            { type: 'tool_result', tool_use_id: id, content: resultOf(command), is_error: fails(session, command) },
          ],
        }),
      ];
    }),
    ...(isDone ? [answer(3 * commands.length + 1, 'done', 'end_turn', { type: 'text', text: 'Done.' })] : []),
  ]);
};

export const codexFile = (session: Session): string => {
  const { commands, isDone } = session;
  const entry = (seconds: number, type: string, payload: object) => ({ timestamp: at(seconds), type, payload });
  return lines([
    entry(0, 'session_meta', { id: 's-codex', cwd: '/work' }),
    entry(0, 'event_msg', { type: 'task_started' }),
    ...commands.flatMap((cmd, i) => [
      entry(3 * i + 1, 'response_item', {
        type: 'function_call',
        name: 'exec_command',
        call_id: `t${i}`,
        arguments: JSON.stringify({ cmd }),
      }),
      entry(3 * i + 2, 'response_item', {
        type: 'function_call_output',
        call_id: `t${i}`,
        output: `Chunk ID: ${i}f${i}\nWall time: 1.${i} seconds\nProcess exited with code ${fails(session, cmd) ? 1 : 0}\nOutput:\n${resultOf(cmd)}\n`,
      }),
    ]),
    ...(isDone ? [entry(3 * commands.length + 1, 'event_msg', { type: 'task_complete' })] : []),
  ]);
};

/** `isTimed` false: as older versions print it, without times. */
export const claudeCodeStream = (session: Session, isTimed = true): string => {
  const { commands, isDone } = session;
  const message = (seconds: number, type: string, content: object) => ({
    type,
    message: { id: `m-${seconds}`, model: 'm', role: type, content: [content] },
    session_id: 's-claude',
    ...(isTimed ? { timestamp: at(seconds) } : {}),
  });
  return lines([
    { type: 'system', subtype: 'init', session_id: 's-claude', model: 'm' },
    ...commands.flatMap((command, i) => [
      message(3 * i + 1, 'assistant', { type: 'tool_use', id: `t${i}`, name: 'Bash', input: { command } }),
      message(3 * i + 2, 'user', {
        type: 'tool_result',
        tool_use_id: `t${i}`,
        content: resultOf(command),
        is_error: fails(session, command),
      }),
    ]),
    ...(isDone
      ? [{ type: 'result', subtype: 'success', is_error: false, session_id: 's-claude', result: 'Done.' }]
      : []),
  ]);
};

/** Its lines have no times. */
export const codexStream = (session: Session, id = 's-codex'): string => {
  const { commands, isDone } = session;
  const item = (i: number, command: string, more: object) => ({
    id: `t${i}`,
    type: 'command_execution',
    command,
    ...more,
  });
  return lines([
    { type: 'thread.started', thread_id: id },
    { type: 'turn.started' },
    ...commands.flatMap((command, i) => [
      { type: 'item.started', item: item(i, command, { status: 'in_progress' }) },
      {
        type: 'item.completed',
        item: item(i, command, {
          status: 'completed',
          exit_code: fails(session, command) ? 1 : 0,
          aggregated_output: resultOf(command),
        }),
      },
    ]),
    ...(isDone
      ? [{ type: 'turn.completed', usage: { input_tokens: 9, cached_input_tokens: 0, output_tokens: 1 } }]
      : []),
  ]);
};

export const geminiStream = (session: Session): string => {
  const { commands, isDone } = session;
  return lines([
    { type: 'init', timestamp: at(0), session_id: 's-gemini', model: 'm' },
    { type: 'message', timestamp: at(0), role: 'user', content: 'do the task' },
    ...commands.flatMap((file_path, i) => [
      {
        type: 'tool_use',
        timestamp: at(3 * i + 1),
        tool_name: 'read_file',
        tool_id: `t${i}`,
        parameters: { file_path },
      },
      {
        type: 'tool_result',
        timestamp: at(3 * i + 2),
        tool_id: `t${i}`,
        status: fails(session, file_path) ? 'error' : 'success',
        output: resultOf(file_path),
        ...(fails(session, file_path) && { error: { type: 'invalid_tool_params', message: 'no such file' } }),
      },
    ]),
    ...(isDone ? [{ type: 'result', timestamp: at(3 * commands.length + 1), status: 'success', stats: {} }] : []),
  ]);
};

const attributes = (pairs: Readonly<Record<string, string>>) =>
  Object.entries(pairs).map(([key, value]) => ({ key, value: { stringValue: value } }));

/** An export request with the spans of a framework, which follow OpenTelemetry's conventions for generative AI. */
export const genAiExport = (session: Session, took = 1) => ({
  resourceSpans: [
    {
      resource: { attributes: attributes({ 'service.name': 'framework' }) },
      scopeSpans: [
        {
          spans: session.commands.map((command, i) => ({
            traceId: 'a1',
            spanId: `b${i}`,
            name: 'execute_tool bash',
            startTimeUnixNano: `${T0 + 1000 * 3 * took * i}000000`,
            endTimeUnixNano: `${T0 + 1000 * (3 * took * i + 2 * took)}000000`,
            attributes: attributes({
              'gen_ai.operation.name': 'execute_tool',
              'gen_ai.conversation.id': 's-otlp',
              'gen_ai.tool.name': 'bash',
              'gen_ai.tool.call.id': `t${i}`,
              'gen_ai.tool.call.arguments': JSON.stringify({ command }),
              'gen_ai.tool.call.result': resultOf(command),
              ...(fails(session, command) && { 'error.type': 'exit_1' }),
            }),
          })),
        },
      ],
    },
  ],
});

export const genAiFile = (session: Session): string => lines([genAiExport(session)]);

const geminiHeader = { sessionId: 's-gemini', projectHash: 'p', startTime: at(0), lastUpdated: at(0) };

const geminiAnswer = (i: number) => ({
  id: `m${i}`,
  timestamp: at(3 * i + 1),
  type: 'gemini',
  content: '',
  model: 'm',
  tokens: { input: 9, output: 1 },
});

const outputOf = (session: Session, command: string, i: number): string =>
  `Output: ${resultOf(command)}\n${fails(session, command) ? 'Exit Code: 1\n' : ''}Process Group PGID: 29${i}`;

const geminiCalls = (session: Session, command: string, i: number) => ({
  toolCalls: [
    {
      id: `t${i}`,
      name: 'run_shell_command',
      args: { command },
      status: 'success',
      timestamp: at(3 * i + 2),
      result: [{ functionResponse: { response: { output: outputOf(session, command, i) } } }],
    },
  ],
});

const geminiPrompt = { id: 'u', timestamp: at(0), type: 'user', content: [{ text: 'do the task' }] };
const geminiEnd = ({ commands, isDone }: Session) =>
  isDone ? [{ id: 'done', timestamp: at(3 * commands.length + 1), type: 'gemini', content: 'Done.' }] : [];

export const geminiFile = (session: Session): string =>
  lines([
    geminiHeader,
    geminiPrompt,
    ...session.commands.flatMap((command, i) => [
      geminiAnswer(i),
      { $set: { lastUpdated: at(3 * i + 1) } },
      { ...geminiAnswer(i), ...geminiCalls(session, command, i) },
    ]),
    ...geminiEnd(session),
  ]);

/** As older versions write it: one document over many lines. */
export const olderGeminiFile = (session: Session): string => {
  const answers = session.commands.map((command, i) => ({ ...geminiAnswer(i), ...geminiCalls(session, command, i) }));
  const messages = [{ ...geminiPrompt, content: 'do the task' }, ...answers, ...geminiEnd(session)];
  return JSON.stringify({ ...geminiHeader, messages }, null, 2);
};

export const atifTrajectory = (session: Session) => ({
  schema_version: 'ATIF-v1.6',
  session_id: 's-atif',
  agent: { name: 'terminus-2', version: '2.0' },
  steps: [
    { step_id: 1, source: 'user', timestamp: at(0), message: 'do the task' },
    ...session.commands.map((command, i) => ({
      step_id: i + 2,
      source: 'agent',
      timestamp: at(3 * i + 1),
      message: '',
      tool_calls: [{ tool_call_id: `t${i}`, function_name: 'bash', arguments: { command } }],
      observation: {
        results: [
          { source_call_id: `t${i}`, content: resultOf(command), extra: { is_error: fails(session, command) } },
        ],
      },
      metrics: { prompt_tokens: 9, completion_tokens: 1 },
    })),
    ...(session.isDone ? [{ step_id: session.commands.length + 2, source: 'agent', message: 'Done.' }] : []),
  ],
});

export const atifFile = (session: Session): string => JSON.stringify(atifTrajectory(session), null, 2);
