import path from 'node:path';
import { type Answer, type Conversation, call, fail, hang, reply, shell, type ToolCall } from './answer.ts';

type Scenario = (conversation: Conversation) => Answer;

const firstStep = call('First a step.', shell('echo step one'));

const last = <T>(items: readonly T[], index: number): T => items[Math.min(index, items.length - 1)]!;

/** A sub-agent is recognised by this word in its prompt. */
export const SUBAGENT_MARK = 'SUBAGENT:';

const TASK_OF_SUBAGENT = `${SUBAGENT_MARK} look into it`;

/** Claude Code's sub-agent runs in the background, and its end wakes the session. */
const claudeSubagent: ToolCall = {
  kind: 'native',
  name: 'Agent',
  input: { description: 'Look into it', prompt: TASK_OF_SUBAGENT, subagent_type: 'general-purpose' },
};

const codexSubagent: ToolCall = { kind: 'native', name: 'spawn_agent', input: { message: TASK_OF_SUBAGENT } };

/** Starts a sub-agent. Codex's model then waits for it repeatedly. */
const delegates = ({ client, turn, inputs }: Conversation): Answer => {
  if (turn === 0) return call('I delegate.', client === 'codex' ? codexSubagent : claudeSubagent);
  const started = inputs.map((text) => /"agent_id":"([\w-]+)"/.exec(text)?.[1]).find((id) => id !== undefined);
  return started === undefined || inputs.at(-1)?.includes('"completed"') === true
    ? reply('My sub-agent is done.')
    : call('I wait for it.', { kind: 'native', name: 'wait_agent', input: { targets: [started], timeout_ms: 30_000 } });
};

/** Codex moves a long command to the background. Its model then waits for the command repeatedly. */
const whenEnded = ({ inputs }: Conversation, answer: Answer): Answer => {
  const running = /Process running with session ID (\d+)/.exec(inputs.at(-1) ?? '')?.[1];
  if (running === undefined) return answer;
  const input = { session_id: Number(running), chars: '', yield_time_ms: 20_000 };
  return call('I wait for it.', { kind: 'native', name: 'write_stdin', input });
};

const question: ToolCall = {
  kind: 'native',
  name: 'AskUserQuestion',
  input: {
    questions: [
      {
        question: 'Which database shall I use?',
        header: 'Database',
        multiSelect: false,
        options: [
          { label: 'Postgres', description: 'a server' },
          { label: 'SQLite', description: 'a file' },
        ],
      },
    ],
  },
};

/** A call of a tool of Vigil's MCP server, as Claude Code names it. */
const vigil = (tool: string, input: Readonly<Record<string, unknown>>): ToolCall => ({
  kind: 'native',
  name: `mcp__vigil__${tool}`,
  input,
});

const firstMatch = (texts: readonly string[], pattern: RegExp): string | undefined =>
  texts.flatMap((text) => pattern.exec(text)?.[1] ?? []).at(0);

/** The calls of one check, with the ticket of the prompt, its agent from `list_agents`, and the request from `inbox`. */
const checkOf =
  (inputs: readonly string[]) =>
  (turn: number): Answer => {
    const ticket = firstMatch(inputs, /that these arguments name: ([\w-]+)/) ?? 'no-ticket-in-the-prompt';
    const agent = firstMatch(inputs, new RegExp(`"agent_id":"([\\w-]+)"[^}]*"task_id":"${ticket}"`)) ?? 'not-listed';
    const request = firstMatch(inputs, /"id":"(request\/[^"]+)"/) ?? 'not-in-the-inbox';
    const answers = [
      call('I list the agents.', vigil('list_agents', { all: true })),
      call('I check the agent.', vigil('check_agent_health', { ticket_id: ticket, agent_id: agent })),
      call('I look at its steps.', vigil('get_worker_health_summary', { session_id: 'auto' })),
      call('I look who waits.', vigil('inbox', {})),
      call('I allow it.', vigil('decide', { item: request, option: 'allow', why: 'the ticket needs it' })),
      reply(`${agent} of ${ticket} waited for ${request}, which is allowed.`),
    ];
    return last(answers, turn);
  };

const edit = (file: string): ToolCall => ({
  kind: 'native',
  name: 'Edit',
  input: { file_path: file, old_string: 'one', new_string: 'uno' },
});

const planFile = (inputs: readonly string[]): string =>
  inputs.map((text) => /\S+\/plans\/[\w-]+\.md/.exec(text)?.[0]).find((file) => file !== undefined) ?? 'plan.md';

const rateLimited = (retryAfterSeconds: number): Answer =>
  fail(429, 'rate_limit_error', 'This request would exceed your rate limit', {
    'retry-after': String(retryAfterSeconds),
  });

const INVALID_HISTORY =
  'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_scripted.';

const isReminder = (text: string): boolean => /vigil|REMINDER: You have been/i.test(text);

const loops: Scenario = ({ turn }) =>
  turn < 16 ? call('Let me try again.', shell('ls /nonexistent-directory')) : reply('I give up.');

/** The highest step that the conversation has seen in the file. */
const stepsSeen = (inputs: readonly string[]): number =>
  Math.max(0, ...inputs.flatMap((text) => [...text.matchAll(/^\s*step (\d+)$/gm)].map((match) => Number(match[1]))));

/**
 * Reads the file, then appends the missing steps, one line each, so that the file shows a repeated or lost step. The
 * request number `faultAt` gets `fault` instead.
 */
const counted =
  (steps: number, faultAt: number, fault: Answer): Scenario =>
  ({ turn, request, inputs }) => {
    if (request === faultAt) return fault;
    if (turn === 0) return call('I look where I am.', shell('cat counted.txt 2>/dev/null || true'));
    const step = stepsSeen(inputs) + turn;
    return step <= steps
      ? call(`Step ${step}.`, shell(`echo step ${step} >> counted.txt`))
      : reply('All steps are done.');
  };

const DEFAULT_STEPS = 4;
/** The fourth request: two steps are done, two are still to do. */
const FAULT_REQUEST = 4;

export const scenarios = {
  works: ({ turn, workdir }) =>
    last(
      [
        call('I will look around.', shell('echo hello from the agent')),
        call('Now write a file.', { kind: 'write', path: path.join(workdir, 'a.txt'), content: 'one\ntwo\n' }),
        call('Read it back.', { kind: 'read', path: path.join(workdir, 'a.txt') }),
        call('Two at a time.', shell('echo first && ls'), shell('wc -l a.txt')),
        reply('All done. The file has two lines.'),
      ],
      turn,
    ),

  greets: () => reply('Hello.'),

  /** the same failing command 16 times */
  loops,
  /** the same, but it stops as soon as a reminder reaches it */
  loopsUntilReminded: (conversation) =>
    conversation.inputs.some(isReminder) ? reply('I was told that I repeat myself; I stop.') : loops(conversation),

  hangs: () => hang,
  hangsAfterStep: ({ turn }) => (turn === 0 ? firstStep : hang),
  /** the second request hangs; any later one is answered */
  hangsOnce: ({ turn, request }) => (turn === 0 ? firstStep : request === 2 ? hang : reply('I am back. Done.')),
  stalls: ({ turn }) => (turn === 0 ? firstStep : { kind: 'stall', text: 'I am thinking about' }),
  stallsOnce: ({ turn, request }) =>
    turn === 0 ? firstStep : request === 2 ? { kind: 'stall', text: 'I am thinking about' } : reply('I am back. Done.'),

  /** one step, then HTTP 400 to every request: the session cannot continue */
  invalidRequest: ({ turn }) => (turn === 0 ? firstStep : fail(400, 'invalid_request_error', INVALID_HISTORY)),
  unauthorized: () => fail(401, 'authentication_error', 'invalid x-api-key'),
  serverError: () => fail(500, 'api_error', 'Internal server error'),
  /** after one step, four times 429 with a Retry-After of 6 s */
  rateLimited: ({ turn, request }) =>
    turn === 0 ? firstStep : request <= 5 ? rateLimited(6) : reply('Done after the limit.'),
  /** after one step, five times 529 */
  overloaded: ({ turn, request }) =>
    turn === 0
      ? firstStep
      : request <= 6
        ? fail(529, 'overloaded_error', 'Overloaded')
        : reply('Done after the overload.'),

  longBash: (conversation) =>
    conversation.turn === 0
      ? call('A long build.', shell('for i in $(seq 150); do sleep 1; done; echo built', { timeoutMs: 600_000 }))
      : whenEnded(conversation, reply('Built.')),
  /** longer than the client's own default limit: 120 s of Claude Code, 10 s of Codex */
  longBashByDefault: (conversation) =>
    conversation.turn === 0
      ? call('A long build.', shell('for i in $(seq 150); do sleep 1; done; echo built'))
      : whenEnded(conversation, reply('Built.')),
  /** a command that runs on while the session works: Claude Code's by its option, Codex' after 10 s */
  backgroundBash: ({ turn }) =>
    last(
      [
        call('In the background.', shell('for i in $(seq 30); do sleep 1; done; echo built', { background: true })),
        call('Meanwhile I work.', shell('sleep 8; echo meanwhile')),
        reply('It runs in the background; I wait.'),
      ],
      turn,
    ),
  /** a command that runs until it is interrupted */
  sleeps: ({ turn }) =>
    turn === 0
      ? call('I wait.', shell('for i in $(seq 600); do sleep 1; done', { timeoutMs: 600_000 }))
      : reply('Done.'),

  subagent: (conversation) => {
    const { turn, isSubagent } = conversation;
    if (isSubagent)
      return turn < 4 ? call('A step.', shell(`sleep 3; echo sub ${turn}`)) : reply('Found three things.');
    return delegates(conversation);
  },
  subagentHangs: (conversation) => {
    const { turn, isSubagent } = conversation;
    if (isSubagent) return turn < 1 ? call('A step.', shell('echo sub')) : hang;
    return delegates(conversation);
  },

  asksQuestion: ({ turn }) => (turn === 0 ? call('I have a question.', question) : reply('Thank you. Done.')),
  asksInText: ({ turn }) => (turn === 0 ? firstStep : reply('Which database shall I use, Postgres or SQLite?')),
  /** Claude Code in plan mode: writes the plan into the file that its prompt names, then asks for approval */
  presentsPlan: ({ turn, inputs }) =>
    last(
      [
        call('I write my plan.', {
          kind: 'write',
          path: planFile(inputs),
          content: '# Plan\n\n1. Write the file.\n2. Test it.\n',
        }),
        call('Here is my plan.', { kind: 'native', name: 'ExitPlanMode', input: {} }),
        reply('Done.'),
      ],
      turn,
    ),
  needsPermission: ({ turn }) =>
    turn === 0
      ? call('I need a command.', shell('touch approved.txt && curl http://127.0.0.1:1/', { escalate: true }))
      : reply('Done.'),
  needsWrite: ({ turn, workdir }) =>
    turn === 0
      ? call('I need a file.', { kind: 'write', path: path.join(workdir, 'written.txt'), content: 'one\n' })
      : reply('Done.'),
  /** Claude Code: changes a file that exists */
  needsEdit: ({ turn, workdir }) =>
    last(
      [
        call('I read it.', { kind: 'read', path: path.join(workdir, 'a.txt') }),
        call('I change it.', edit(path.join(workdir, 'a.txt'))),
        reply('Done.'),
      ],
      turn,
    ),
  /** a call that the permissions of the client refuse, then ordinary work for some minutes */
  refusedCall: ({ turn, workdir }) => {
    if (turn === 0) return call('I need a command.', shell('rm -rf ./build; touch done.txt'));
    if (turn > 15) return reply('Done.');
    const file: ToolCall = { kind: 'write', path: path.join(workdir, `f${turn}.txt`), content: `${turn}\n` };
    return call('Work.', file, shell('sleep 12'));
  },
  /** the client's process is killed by its own command */
  crashes: ({ turn, request }) =>
    request === 2
      ? call('Oh no.', shell('kill -9 $PPID'))
      : turn < 2
        ? call('A step.', shell(`echo ${turn}`))
        : reply('Done.'),

  /** twelve steps with a pause between them: a session that works for a while */
  worksLonger: ({ turn }) =>
    turn < 12 ? call(`Part ${turn}.`, shell(`sleep 2; echo part ${turn}`)) : reply('All parts are done.'),

  /** Claude Code, with Vigil's MCP server: follows its command file, and allows the request that waits in the inbox */
  checksAgents: ({ turn, inputs }) => checkOf(inputs)(turn),

  counted: counted(DEFAULT_STEPS, 0, hang),
  countedHang: counted(DEFAULT_STEPS, FAULT_REQUEST, hang),
  countedStall: counted(DEFAULT_STEPS, FAULT_REQUEST, { kind: 'stall', text: 'I am thinking about' }),
  countedLimit: counted(DEFAULT_STEPS, FAULT_REQUEST, rateLimited(3)),
  countedOverload: counted(DEFAULT_STEPS, FAULT_REQUEST, fail(529, 'overloaded_error', 'Overloaded')),
  countedCrash: counted(DEFAULT_STEPS, FAULT_REQUEST, call('Oh no.', shell('kill -9 $PPID'))),
} as const satisfies Readonly<Record<string, Scenario>>;

export type ScenarioName = keyof typeof scenarios;

export const answerTo = (name: ScenarioName, conversation: Conversation): Answer => scenarios[name](conversation);
