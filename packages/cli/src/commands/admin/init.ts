import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { PRESETS, presetNames } from '@vigil/policy';
import type { Command } from 'commander';
import { CannotProceed, Refusal } from '../../errors.ts';
import { filesOf, nextLines, type PlannedFile } from '../../init/files.ts';
import { type Ask, answersOf, type Defaults, isYes } from '../../init/questions.ts';
import { channelsIn, testChannels, testedLines } from '../../init/test-channels.ts';
import { isOnPath } from '../../on-path.ts';
import { plain } from '../../render/plain.ts';
import { replaceFile } from '../../replace-file.ts';
import { dashboard, endUnwell, print, show, whoAmI } from '../../terminal.ts';
import { ADMINISTRATION } from '../groups.ts';

type Options = {
  readonly dir: string;
  readonly yes?: boolean;
  readonly overwrite?: boolean;
  readonly test?: boolean;
  readonly json?: boolean;
};

const EXAMPLES = `
It writes a policy of your own, its assignment, the channels of alerts, and their secrets, which git ignores. An existing file
is replaced only after a yes. Nothing that runs is changed. With --test it writes nothing: each channel of the file gets a test
message through the Vigil that runs with it. It shows what happened to each, and ends with 1 if one is not delivered.

Examples:
  vigil init                    with questions
  vigil init --yes              without: the preset vigil, alerts on the console
  vigil init --dir ops/vigil    in another folder
  vigil init --test             after the start: a test message to each channel of vigil/alerts.yaml`;

export const register = (program: Command): void => {
  program
    .command('init')
    .helpGroup(ADMINISTRATION)
    .description('write a first policy and the channels of alerts')
    .option('--dir <folder>', 'where to', 'vigil')
    .option('--yes', 'take the default answers; existing files are kept')
    .option('--overwrite', 'with --yes: replace existing files')
    .option('--test', 'only send a test message to each channel, through the Vigil that runs')
    .option('--json', 'for programs: print the files; needs --yes')
    .addHelpText('after', EXAMPLES)
    .action(init);
};

const defaults = (): Defaults => ({
  policy: 'my-agents',
  presets: presetNames(),
  topic: `vigil-${randomBytes(9).toString('hex')}`,
  secret: `whsec_${randomBytes(32).toString('base64')}`,
  command: isOnPath('notify-send', process.env.PATH) ? 'notify-send {title} {text}' : '',
});

const init = async (options: Options): Promise<void> => {
  const { dir, yes, json, test } = options;
  if (test) return sendTests(options);
  if (json && !yes) throw new CannotProceed('--json asks no questions: give --yes with it.');
  using terminal = yes ? null : openTerminal();
  const ask: Ask = terminal?.ask ?? (async (_, fallback) => fallback);
  const answers = await answersOf(ask, defaults());
  const presetText = readFileSync(path.join(PRESETS, `${answers.preset}.yaml`), 'utf8');
  const folder = path.resolve(dir);
  const written = [];
  for (const file of filesOf(answers, folder, presetText)) {
    const outcome = await writePlanned(folder, file, options, ask);
    written.push({ path: path.join(dir, file.path), outcome });
  }
  show(json, written, (files) => [
    ...files.map((file) => `${file.outcome.padEnd(9)} ${file.path}`),
    '',
    ...nextLines(answers, dir).map(plain),
  ]);
  if (answers.channels.length > 0 && (await isYes(ask, SEND_NOW))) await sendTests(options);
};

const SEND_NOW = 'Send a test message to each channel now? Vigil has to run with this file';

/** Ends with 1 if a message is not delivered. */
const sendTests = async ({ dir, json }: Options): Promise<void> => {
  const file = path.join(path.resolve(dir), 'alerts.yaml');
  if (!existsSync(file))
    throw new CannotProceed(`${path.join(dir, 'alerts.yaml')} does not exist: run \`vigil init\` first.`);
  const deps = { client: dashboard(), by: whoAmI(), why: 'vigil init', now: () => performance.now(), pause: sleep };
  const tested = await testChannels(channelsIn(file), deps);
  show(json, tested, testedLines);
  if (tested.some(({ outcome }) => outcome !== 'delivered')) endUnwell();
};

type Outcome = 'written' | 'kept' | 'unchanged';

const writePlanned = async (folder: string, file: PlannedFile, options: Options, ask: Ask): Promise<Outcome> => {
  const target = path.join(folder, file.path);
  if (existsSync(target)) {
    if (readFileSync(target, 'utf8') === file.text) return 'unchanged';
    const isReplaced = options.yes
      ? options.overwrite === true
      : await isYes(ask, `${path.join(options.dir, file.path)} exists and differs. Replace it?`);
    if (!isReplaced) return 'kept';
  }
  if (file.isSecret) {
    mkdirSync(path.dirname(target), { recursive: true, mode: 0o700 });
    // The mode holds before the content is there.
    if (!existsSync(target)) writeFileSync(target, '', { mode: 0o600 });
    chmodSync(target, 0o600);
  }
  replaceFile(target, file.text);
  return 'written';
};

const openTerminal = (): { readonly ask: Ask } & Disposable => {
  const { stdin, stdout } = process;
  if (!stdin.isTTY)
    throw new CannotProceed(
      'vigil init asks questions on a terminal, and stdin is not one; run `vigil init --yes` for the default answers',
    );
  let isHidden = false;
  const output = new Writable({
    write: (chunk, _, done) => {
      if (!isHidden) stdout.write(chunk);
      done();
    },
  });
  const terminal = createInterface({ input: stdin, output, terminal: true });
  const stopped = new AbortController();
  terminal.once('close', () => stopped.abort());
  terminal.once('SIGINT', () => terminal.close());
  return {
    ask: async (question, fallback, isSecret = false) => {
      const shown = `${question}${fallback === '' ? '' : ` [${fallback}]`}: `;
      const answer = terminal.question(shown, { signal: stopped.signal });
      isHidden = isSecret;
      try {
        return (await answer).trim() || fallback;
      } catch {
        throw new Refusal('Stopped: nothing more is written.');
      } finally {
        isHidden = false;
        if (isSecret) print(['']);
      }
    },
    [Symbol.dispose]: () => terminal.close(),
  };
};
