import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { VOCABULARY } from '@vigil/health';
import { checkFiles, PRESETS, presetNames } from '@vigil/policy';
import { readChannels } from '@vigil/policy/channels';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Answers, filesOf, nextLines } from './files.ts';
import { type Ask, answersOf, type Defaults, isYes } from './questions.ts';

const defaults: Defaults = {
  ...{ policy: 'my-agents', presets: presetNames(), topic: 'vigil-1', secret: 'whsec_AAAA' },
  command: 'notify-send {title} {text}',
};

/** Answers in this order, and the default after them. */
const person = (...answers: readonly string[]) => {
  const questions: string[] = [];
  const ask: Ask = async (question, fallback) => answers[questions.push(question) - 1] || fallback;
  return { ask, questions };
};

const folder = mkdtempSync(path.join(tmpdir(), 'vigil-init-'));
afterAll(() => rmSync(folder, { recursive: true }));

const presetText = (name: string) => readFileSync(path.join(PRESETS, `${name}.yaml`), 'utf8');
const planned = (answers: Answers) => filesOf(answers, '/w/vigil', presetText(answers.preset));
const textOf = (answers: Answers, name: string): string =>
  planned(answers).find((file) => file.path === name)?.text ?? expect.unreachable(`there is no ${name}`);

test('without an answer it is the preset vigil under a name of its own, and alerts go to the console', async () => {
  const answers = await answersOf(person().ask, defaults);
  expect(answers).toEqual({ policy: 'my-agents', preset: 'vigil', channels: [] });
  expect(parse(textOf(answers, 'alerts.yaml'))).toEqual({ default: ['console'], channels: {} });
  expect(planned(answers).map((file) => file.path)).toEqual([
    'policies/my-agents.yaml',
    'policies/assign.yaml',
    'alerts.yaml',
    '.gitignore',
  ]);
});

test.each(presetNames())(
  'the files that begin as %s are valid, and differ from the preset in the name alone',
  (preset) => {
    const files = planned({ policy: 'builders', preset, channels: [] }).filter((file) =>
      file.path.startsWith('policies'),
    );
    mkdirSync(path.join(folder, preset, 'policies'), { recursive: true });
    const paths = files.map((file) => path.join(folder, preset, file.path));
    for (const [i, { text }] of files.entries()) writeFileSync(paths[i] ?? '', text);
    expect(checkFiles(paths, VOCABULARY, presetNames())[0]).toMatchObject({ name: 'builders' });
    expect(parse(files[0]?.text ?? '')).toEqual({ ...parse(presetText(preset)), policy: 'builders' });
  },
);

test('each channel has its settings in the file of channels, and its secret in a file of its own', async () => {
  const { ask } = person(
    'ops',
    'hive',
    'ntfy, slack_webhook webhook command',
    ...['https://n.example', 'alarm', 'tk_1'],
  );
  const answers = await answersOf(async (question, fallback, isSecret) => {
    if (question.startsWith('Slack')) return 'https://hooks.slack.example/x';
    if (question.startsWith('webhook')) return 'https://o.example/vigil';
    if (question.startsWith('command')) return 'notify-send {title}';
    return ask(question, fallback, isSecret);
  }, defaults);
  const { default: names, channels } = parse(textOf(answers, 'alerts.yaml'));
  expect(names).toEqual(['console', 'ntfy', 'slack', 'webhook', 'command']);
  expect(channels).toEqual({
    ntfy: { kind: 'ntfy', url: 'https://n.example', topic: 'alarm', token_file: '/w/vigil/secrets/ntfy' },
    slack: { kind: 'slack_webhook', url_file: '/w/vigil/secrets/slack' },
    webhook: { kind: 'webhook', url: 'https://o.example/vigil', secret_file: '/w/vigil/secrets/webhook' },
    command: { kind: 'command', argv: ['notify-send', '{title}'] },
  });
  const secrets = planned(answers).filter((file) => file.isSecret);
  expect(secrets.map((file) => [file.path, file.text])).toEqual([
    ['secrets/ntfy', 'tk_1\n'],
    ['secrets/slack', 'https://hooks.slack.example/x\n'],
    ['secrets/webhook', 'whsec_AAAA\n'],
  ]);
  expect(textOf(answers, '.gitignore')).toBe('secrets/\n');
  const open = planned(answers).filter((file) => !file.isSecret);
  expect(open.map((file) => file.text).join()).not.toMatch(/tk_1|hooks\.slack|whsec/);
  const next = nextLines(answers, 'vigil').join('\n');
  expect(next).toContain('vigil init --test --dir vigil');
  // `npm start` runs in another folder than `vigil init`.
  expect(next).toContain(`VIGIL_ALERTS_FILE=${path.resolve('vigil/alerts.yaml')} npm start`);
});

test('Slack by an app, PagerDuty and Alertmanager name the variables of their secrets, and the file is valid', async () => {
  const given: Readonly<Record<string, string>> = {
    Channels: 'slack pagerduty alertmanager slack_webhook',
    'Slack: id': 'C0123ABCD',
    'Slack: address': 'https://hooks.slack.example/x',
    'Alertmanager: address': 'http://alertmanager:9093',
  };
  const hidden: string[] = [];
  const answers = await answersOf(async (question, fallback, isSecret) => {
    if (isSecret) hidden.push(question);
    return Object.entries(given).find(([begin]) => question.startsWith(begin))?.[1] ?? fallback;
  }, defaults);
  const text = textOf(answers, 'alerts.yaml');
  expect(parse(text)).toMatchObject({
    default: ['console', 'slack_app', 'slack', 'pagerduty', 'alertmanager'],
    channels: {
      slack_app: {
        kind: 'slack',
        channel: 'C0123ABCD',
        token_env: 'SLACK_BOT_TOKEN',
        app_token_env: 'SLACK_APP_TOKEN',
      },
      pagerduty: { kind: 'pagerduty', url: 'https://events.pagerduty.com', routing_key_env: 'PAGERDUTY_ROUTING_KEY' },
      alertmanager: { kind: 'alertmanager', url: 'http://alertmanager:9093' },
    },
  });
  expect(Object.keys(readChannels(text, 'alerts.yaml').channels)).toHaveLength(4);
  // Only the address of the webhook is a secret that is typed.
  expect(hidden).toHaveLength(1);
  expect(planned(answers).filter(({ isSecret }) => isSecret)).toHaveLength(1);
  const next = nextLines(answers, 'vigil').join('\n');
  for (const name of ['SLACK_BOT_TOKEN', 'SLACK_APP_TOKEN', 'PAGERDUTY_ROUTING_KEY'])
    expect(next).toContain(`export ${name}=…`);
});

test('a secret in place of the name of a variable, and a channel by its name, are asked again', async () => {
  const wrong = ['xoxb-1', 'SLACK_BOT_TOKEN'];
  const names = ['#ops', 'C0123ABCD'];
  const answers = await answersOf(async (question, fallback) => {
    if (question.includes('Channels for')) return 'slack';
    if (question.includes('id of the channel')) return names.shift() ?? '';
    if (question.includes("the bot's token")) return wrong.shift() ?? '';
    return question.includes('Socket Mode') ? 'none' : fallback;
  }, defaults);
  expect(answers.channels).toEqual([
    { kind: 'slack', channel: 'C0123ABCD', tokenIn: 'SLACK_BOT_TOKEN', appTokenIn: null },
  ]);
});

test('a wrong answer is asked again, with what to write', async () => {
  const { ask, questions } = person('My Agents', 'builders', 'vigli', 'vigil', 'fax', 'none');
  expect(await answersOf(ask, defaults)).toEqual({ policy: 'builders', preset: 'vigil', channels: [] });
  expect(questions[1]).toMatch(/^Write lower-case letters, digits, - and _/);
  expect(questions[3]).toMatch(/^Did you mean vigil\?/);
  expect(questions[5]).toMatch(/^Write one of ntfy, slack, slack_webhook, pagerduty, alertmanager, webhook, command\./);
});

test.each([
  ['y', true],
  ['YES', true],
  ['n', false],
  ['No', false],
  ['', false],
])('%j is an answer to a yes or no', async (answer, expected) => {
  const { ask, questions } = person(answer);
  expect(await isYes(ask, 'Replace it?')).toBe(expected);
  expect(questions).toEqual(['Replace it? (y, n)']);
});

test('another answer to a yes or no is neither: it is asked again, with the accepted answers', async () => {
  const { ask, questions } = person('maybe', '5', 'yess', 'y');
  expect(await isYes(ask, 'Replace it?')).toBe(true);
  const again = 'Write y or yes, or n or no.\nReplace it? (y, n)';
  expect(questions).toEqual(['Replace it? (y, n)', again, again, again]);
});

test('a command is offered where its program is found, and otherwise has to be written', async () => {
  const { ask, questions } = person('ops', 'vigil', 'command');
  expect((await answersOf(ask, defaults)).channels).toEqual([
    { kind: 'command', argv: ['notify-send', '{title}', '{text}'] },
  ]);
  expect(questions).toHaveLength(4);
  const without = person('ops', 'vigil', 'command', '', 'bell {title}');
  expect((await answersOf(without.ask, { ...defaults, command: '' })).channels).toEqual([
    { kind: 'command', argv: ['bell', '{title}'] },
  ]);
  expect(without.questions[4]).toMatch(/^Write a program and its arguments, such as PROGRAM \{title\} \{text\}\./);
  expect(without.questions.join()).not.toContain('notify-send');
});

test('what is secret is asked without showing it', async () => {
  const hidden: string[] = [];
  await answersOf(async (question, fallback, isSecret) => {
    if (isSecret) hidden.push(question.split(':')[0] ?? '');
    if (question.startsWith('Channels')) return 'ntfy slack_webhook';
    return fallback || 'https://hooks.slack.example/x';
  }, defaults);
  expect(hidden).toEqual(['ntfy', 'Slack']);
});
