/** One input of each event as https://code.claude.com/docs/en/hooks documents it in November 2026. */
const common = {
  session_id: '00893aaf-19fa-41d2-8238-13269b9b3ca0',
  transcript_path: '/home/user/.claude/projects/-home-user-app/00893aaf-19fa-41d2-8238-13269b9b3ca0.jsonl',
  cwd: '/home/user/app',
};
const turn = {
  ...common,
  prompt_id: '6f1d2c3b-8a4e-4d7f-9b0a-1c2d3e4f5a6b',
  permission_mode: 'default',
  effort: { level: 'high' },
};

const bash = { command: 'npm test', description: 'Run test suite', timeout: 300_000 };
const write = { file_path: '/home/user/app/a.txt', content: 'file content' };

export const examples = {
  SessionStart: { ...common, hook_event_name: 'SessionStart', source: 'startup', model: 'claude-sonnet-4-6' },
  UserPromptSubmit: {
    ...turn,
    hook_event_name: 'UserPromptSubmit',
    prompt: 'Write a function to calculate a factorial',
  },
  PreToolUse: {
    ...turn,
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: bash,
    tool_use_id: 'toolu_01ABC123',
  },
  PostToolUse: {
    ...turn,
    hook_event_name: 'PostToolUse',
    tool_name: 'Write',
    tool_input: write,
    tool_response: { filePath: '/home/user/app/a.txt', success: true },
    tool_use_id: 'toolu_01DEF456',
    duration_ms: 12,
  },
  PostToolUseFailure: {
    ...turn,
    hook_event_name: 'PostToolUseFailure',
    tool_name: 'Bash',
    tool_input: bash,
    tool_use_id: 'toolu_01ABC123',
    error: "Exit code 1\nError: Cannot find module 'express'",
    is_interrupt: false,
    duration_ms: 4187,
  },
  Notification: {
    ...common,
    hook_event_name: 'Notification',
    message: 'Claude needs your permission',
    title: 'Permission needed',
    notification_type: 'permission_prompt',
  },
  Stop: {
    ...turn,
    hook_event_name: 'Stop',
    stop_hook_active: false,
    last_assistant_message: "I've completed the refactoring. Here's a summary...",
    background_tasks: [],
    session_crons: [],
  },
  StopFailure: {
    ...common,
    hook_event_name: 'StopFailure',
    error: 'rate_limit',
    error_details: '429 Too Many Requests',
    last_assistant_message: 'API Error: Rate limit reached',
  },
  SubagentStop: {
    ...turn,
    hook_event_name: 'SubagentStop',
    stop_hook_active: false,
    agent_id: 'def456',
    agent_type: 'Explore',
    agent_transcript_path: '/home/user/.claude/projects/-home-user-app/subagents/agent-def456.jsonl',
    last_assistant_message: 'Analysis complete. Found 3 potential issues...',
  },
  PreCompact: { ...common, hook_event_name: 'PreCompact', trigger: 'manual', custom_instructions: null },
  SessionEnd: { ...common, hook_event_name: 'SessionEnd', reason: 'other' },
} as const;
