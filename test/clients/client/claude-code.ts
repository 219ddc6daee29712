import path from 'node:path';
import {
  type Client,
  commonEnv,
  recorderCommand,
  type SessionSettings,
  type StartQuestion,
  writeJson,
} from './session.ts';

const KEY = 'sk-ant-scripted-0000000000000000';

/** The hook events of Claude Code 2.1.330 that report a session's work; others report its settings, files and worktrees. */
export const CLAUDE_EVENTS = [
  ...['SessionStart', 'SessionEnd', 'UserPromptSubmit', 'Stop', 'StopFailure', 'Notification'],
  ...['PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'PostToolBatch', 'PermissionRequest', 'PermissionDenied'],
  ...['SubagentStart', 'SubagentStop', 'PreCompact', 'PostCompact', 'Elicitation', 'ElicitationResult'],
  ...['TaskCreated', 'TaskCompleted', 'TeammateIdle'],
] as const;

const writeSettings = ({ place, openQuestions }: SessionSettings): void => {
  const recorder = recorderCommand(place);
  const hook = { hooks: [{ type: 'command', command: recorder, timeout: 5 }] };
  const hooks = recorder === null ? {} : Object.fromEntries(CLAUDE_EVENTS.map((event) => [event, [hook]]));
  writeJson(path.join(place.home, '.claude/settings.json'), { hooks });
  const isAnswered = (question: StartQuestion): boolean => !openQuestions.includes(question);
  writeJson(path.join(place.home, '.claude.json'), {
    ...(isAnswered('theme') ? { hasCompletedOnboarding: true, theme: 'dark' } : {}),
    ...(isAnswered('bypass') ? { bypassPermissionsModeAccepted: true } : {}),
    ...(isAnswered('key') ? { customApiKeyResponses: { approved: [KEY.slice(-20)], rejected: [] } } : {}),
    projects: isAnswered('trust')
      ? { [place.project]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } }
      : {},
  });
};

const argsOf = ({ isHeadless, prompt, skipsPermissions, moreArgs }: SessionSettings): readonly string[] => [
  ...(skipsPermissions ? ['--dangerously-skip-permissions'] : []),
  ...moreArgs,
  ...(isHeadless ? ['-p'] : []),
  ...(prompt === null ? [] : [prompt]),
];

export const claudeCode: Client = {
  kind: 'claude-code',
  prepare: (settings) => {
    writeSettings(settings);
    return {
      command: 'claude',
      args: argsOf(settings),
      cwd: settings.place.project,
      env: {
        ...commonEnv(settings.place, settings.modelUrl),
        ANTHROPIC_BASE_URL: settings.modelUrl,
        ANTHROPIC_API_KEY: KEY,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
        // Claude Code refuses to skip permissions as root unless it is in a sandbox.
        IS_SANDBOX: '1',
      },
    };
  },
};
