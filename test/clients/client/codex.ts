import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Client, commonEnv, recorderCommand, type SessionSettings, writeJson } from './session.ts';

/** Every hook event that Codex 0.169.0 names. */
export const CODEX_EVENTS = [
  ...['SessionStart', 'SessionEnd', 'UserPromptSubmit', 'Stop', 'Interrupt'],
  ...['PreToolUse', 'PostToolUse', 'PermissionRequest'],
  ...['PreCompact', 'PostCompact', 'SubagentStart', 'SubagentStop'],
] as const;

const configOf = ({ modelUrl, openQuestions, place }: SessionSettings): string => `
model = "gpt-5.1-codex"
model_provider = "scripted"
check_for_update_on_startup = false

[analytics]
enabled = false

[features]
hooks = true

[model_providers.scripted]
name = "scripted"
base_url = "${modelUrl}"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
${openQuestions.includes('trust') ? '' : `\n[projects."${place.project}"]\ntrust_level = "trusted"\n`}`;

/** Refuses a command even if every other one runs without a permission. */
const RULES = 'prefix_rule(pattern = ["rm"], decision = "forbidden")\n';

const writeSettings = (settings: SessionSettings): void => {
  const dir = path.join(settings.place.home, '.codex');
  mkdirSync(path.join(dir, 'rules'), { recursive: true });
  writeFileSync(path.join(dir, 'rules/default.rules'), RULES);
  writeFileSync(path.join(dir, 'config.toml'), configOf(settings));
  const recorder = recorderCommand(settings.place);
  if (recorder === null) return;
  const hook = { hooks: [{ type: 'command', command: recorder, timeout: 5 }] };
  writeJson(path.join(dir, 'hooks.json'), { hooks: Object.fromEntries(CODEX_EVENTS.map((event) => [event, [hook]])) });
};

const argsOf = (settings: SessionSettings): readonly string[] => [
  ...(settings.isHeadless ? ['exec', '--skip-git-repo-check'] : []),
  ...(settings.skipsPermissions ? ['--dangerously-bypass-approvals-and-sandbox'] : []),
  // Replaces the person, who trusts hooks in the client itself.
  '--dangerously-bypass-hook-trust',
  ...settings.moreArgs,
  ...(settings.prompt === null ? [] : [settings.prompt]),
];

export const codex: Client = {
  kind: 'codex',
  prepare: (settings) => {
    writeSettings(settings);
    return {
      command: 'codex',
      args: argsOf(settings),
      cwd: settings.place.project,
      env: { ...commonEnv(settings.place, settings.modelUrl), SCRIPTED_KEY: 'scripted' },
    };
  },
};
