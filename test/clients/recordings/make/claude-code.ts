import { DOWN, ENTER, ESCAPE, REMINDER, type Recording, recording, UP } from './recording.ts';

const PROMPT = /❯[^\n]*\n─+/;

const claude = (given: Omit<Parameters<typeof recording>[0], 'client'>): Recording =>
  recording({ client: 'claude-code', ...given });

export const claudeRecordings: readonly Recording[] = [
  claude({
    name: 'first-start',
    scenario: 'greets',
    openQuestions: ['theme', 'key', 'trust'],
    // The first start queries Anthropic's servers first; with another provider it does not.
    moreEnv: { CLAUDE_CODE_USE_BEDROCK: '1', AWS_REGION: 'us-east-1' },
    play: async ({ shows, mark, paste, press }) => {
      await shows(/Choose the text style/);
      await mark('dialog', 'theme');
      await paste(REMINDER);
      await mark('dialog', 'theme, after a paste');
      await press(ENTER);
      await shows(/Press Enter to continue/);
      await mark('dialog', 'security notes');
      await paste(REMINDER);
      await mark('dialog', 'security notes, after a paste');
      await press(ENTER);
      await shows(/Accessing workspace/);
      await mark('dialog', 'trust');
    },
  }),
  claude({
    name: 'first-start-offline',
    scenario: 'greets',
    openQuestions: ['theme', 'key', 'trust'],
    play: async ({ shows, mark }) => {
      await shows(/Unable to connect/);
      await mark('other', 'no connection to Anthropic');
    },
  }),
  claude({
    name: 'login',
    scenario: 'greets',
    moreEnv: { ANTHROPIC_API_KEY: null },
    play: async ({ mark, paste, press, wait }) => {
      await wait(5000);
      await mark('other', 'started without a login');
      await press('/', 'l', 'o', 'g', 'i', 'n');
      await wait(1500);
      await mark('prompt', 'slash menu');
      await press(ENTER);
      await wait(2500);
      await mark('dialog', 'login method');
      await paste(REMINDER);
      await mark('dialog', 'login method, after a paste');
    },
  }),
  claude({
    name: 'start-dialogs',
    scenario: 'greets',
    openQuestions: ['key', 'trust', 'bypass'],
    skipsPermissions: true,
    play: async ({ shows, mark, paste, press }) => {
      await shows(/Accessing workspace/);
      await mark('dialog', 'trust');
      await paste(REMINDER);
      await mark('dialog', 'trust, after a paste');
      await press(DOWN, ENTER);
      await shows(/Do you want to use this API key/);
      await mark('dialog', 'API key');
      await paste(REMINDER);
      await mark('dialog', 'API key, after a paste');
      await press(UP, ENTER);
      await shows(/Bypass Permissions mode/);
      await mark('dialog', 'bypass permissions');
      await paste(REMINDER);
      await mark('dialog', 'bypass permissions, after a paste');
      await press(DOWN, ENTER);
      await shows(PROMPT);
      await mark('prompt', 'empty');
    },
  }),
  claude({
    name: 'prompt-and-hang',
    scenario: 'hangs',
    play: async ({ shows, mark, paste, press, wait }) => {
      await shows(PROMPT);
      await mark('prompt', 'empty');
      await wait(4000);
      await paste(REMINDER);
      await shows(/REMINDER/);
      await mark('prompt', 'text pasted but unsent');
      await wait(2000);
      await press(ENTER);
      await shows(/esc to interrupt/i);
      await mark('busy', 'the model does not answer');
      await wait(12_000);
      await mark('busy', 'the model still does not answer');
      await paste('a second text');
      await shows(/a second text/);
      await mark('busy', 'text pasted while busy');
      await press(ESCAPE);
      await wait(1500);
      await mark('prompt', 'after Esc');
      await wait(3000);
    },
  }),
  claude({
    name: 'stall',
    scenario: 'stalls',
    skipsPermissions: true,
    prompt: 'do the task',
    play: async ({ shows, mark, press, wait }) => {
      await shows(/Ran 1 shell command/);
      await wait(5000);
      await mark('busy', 'the answer stopped in the middle');
      await wait(8000);
      await press(ESCAPE);
      await shows(/Interrupted/);
      await mark('prompt', 'after Esc');
    },
  }),
  claude({
    name: 'permission-bash',
    scenario: 'needsPermission',
    moreArgs: ['--permission-mode', 'manual'],
    prompt: 'do the task',
    play: async ({ shows, mark, paste, press, wait }) => {
      await shows(/Do you want to proceed/);
      await mark('dialog', 'permission for Bash');
      await paste(REMINDER);
      await mark('dialog', 'permission for Bash, after a paste');
      await wait(3000);
      await press(ENTER);
      await shows(/Done\./);
      await mark('prompt', 'after the turn');
    },
  }),
  claude({
    name: 'permission-write',
    scenario: 'needsWrite',
    moreArgs: ['--permission-mode', 'manual'],
    prompt: 'do the task',
    play: async ({ shows, mark, paste, press }) => {
      await shows(/Do you want to create/);
      await mark('dialog', 'permission for Write');
      await paste(REMINDER);
      await mark('dialog', 'permission for Write, after a paste');
      await press(ESCAPE);
      await shows(/Interrupted|rejected/i);
      await mark('prompt', 'after Esc in the dialog');
    },
  }),
  claude({
    name: 'permission-edit',
    scenario: 'needsEdit',
    moreArgs: ['--permission-mode', 'manual'],
    prompt: 'do the task',
    play: async ({ shows, mark, paste, press }) => {
      await shows(/Do you want to make this edit/);
      await mark('dialog', 'permission for Edit');
      await paste(REMINDER);
      await mark('dialog', 'permission for Edit, after a paste');
      await press(ENTER);
      await shows(/Done\./);
      await mark('prompt', 'after the turn');
    },
  }),
  claude({
    name: 'auto-mode-check',
    scenario: 'needsPermission',
    prompt: 'do the task',
    play: async ({ shows, mark, paste, wait }) => {
      await shows(/Auto mode can't check actions/);
      await mark('dialog', 'auto mode cannot check');
      await paste(REMINDER);
      await mark('dialog', 'auto mode cannot check, after a paste');
      // The notification comes some seconds later.
      await wait(10_000);
    },
  }),
  claude({
    name: 'question',
    scenario: 'asksQuestion',
    skipsPermissions: true,
    prompt: 'do the task',
    play: async ({ shows, mark, paste, press }) => {
      await shows(/Which database shall I use/);
      await mark('dialog', 'question');
      await paste(REMINDER);
      await mark('dialog', 'question, after a paste');
      await press(ENTER);
      await shows(/Thank you/);
      await mark('prompt', 'after the turn');
    },
  }),
  claude({
    name: 'plan',
    scenario: 'presentsPlan',
    moreArgs: ['--permission-mode', 'plan'],
    prompt: 'do the task',
    play: async ({ shows, mark, paste }) => {
      await shows(/Would you like to proceed|Ready to code|Exit plan mode/i);
      await mark('dialog', 'plan approval');
      await paste(REMINDER);
      await mark('dialog', 'plan approval, after a paste');
    },
  }),
  claude({
    name: 'bash-interrupted',
    scenario: 'sleeps',
    skipsPermissions: true,
    prompt: 'do the task',
    play: async ({ shows, mark, press, wait }) => {
      await shows(/seq 600/);
      await wait(4000);
      await mark('busy', 'Bash runs');
      await press(ESCAPE);
      await shows(/Interrupted/);
      await mark('prompt', 'after Esc');
      await wait(4000);
    },
  }),
  claude({
    name: 'retries',
    scenario: 'overloaded',
    skipsPermissions: true,
    prompt: 'do the task',
    play: async ({ shows, mark, wait }) => {
      await shows(/attempt 1|Retrying|retrying/);
      await mark('busy', 'API error, retrying');
      await shows(/attempt 3/, 60_000);
      await mark('busy', 'API error, third retry');
      await shows(/Done after/, 60_000);
      await mark('prompt', 'after the turn');
      await wait(500);
    },
  }),
  claude({
    name: 'invalid-request',
    scenario: 'invalidRequest',
    skipsPermissions: true,
    prompt: 'do the task',
    play: async ({ shows, mark }) => {
      await shows(/API Error/);
      await mark('prompt', 'after HTTP 400');
    },
  }),
  claude({
    name: 'resume-picker',
    scenario: 'works',
    skipsPermissions: true,
    earlierPrompt: 'do the first task',
    moreArgs: ['--resume'],
    play: async ({ shows, mark, paste }) => {
      await shows(/Resume/i);
      await mark('dialog', 'session to resume');
      await paste(REMINDER);
      await mark('dialog', 'session to resume, after a paste');
    },
  }),
];
