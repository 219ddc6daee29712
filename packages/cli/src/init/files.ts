import { join, resolve } from 'node:path';
import { stringify } from 'yaml';

/**
 * A way to people, as `vigil init` sets it up. Its secret is in a file of its own, or in a variable that the file of
 * channels names, such as `tokenIn`.
 */
export type Channel =
  | { readonly kind: 'ntfy'; readonly url: string; readonly topic: string; readonly token: string | null }
  | { readonly kind: 'slack'; readonly channel: string; readonly tokenIn: string; readonly appTokenIn: string | null }
  | { readonly kind: 'slack_webhook'; readonly address: string }
  | { readonly kind: 'pagerduty'; readonly url: string; readonly keyIn: string }
  | { readonly kind: 'alertmanager'; readonly url: string; readonly tokenIn: string | null }
  | { readonly kind: 'webhook'; readonly url: string; readonly secret: string }
  | { readonly kind: 'command'; readonly argv: readonly string[] };
export type ChannelKind = Channel['kind'];

/** `preset`: the policy that the new one begins as. */
export type Answers = { readonly policy: string; readonly preset: string; readonly channels: readonly Channel[] };

/** `path`: within the folder of `vigil init`. A secret is readable by its owner only, and git ignores it. */
export type PlannedFile = { readonly path: string; readonly text: string; readonly isSecret: boolean };

const SECRETS = 'secrets';

const file = (path: string, text: string): PlannedFile => ({ path, text, isSecret: false });
const secret = (name: string, text: string): PlannedFile => ({
  path: join(SECRETS, name),
  text: `${text}\n`,
  isSecret: true,
});

/** The preset under a new name, without the comment that leads to its schema. */
const policyText = ({ policy, preset }: Answers, presetText: string): string => {
  const body = presetText.slice(presetText.search(/^policy:/m)).replace(/^policy: .*$/m, `policy: ${policy}`);
  return `# It begins as the preset ${preset}. After a change: vigil policy check, then vigil policy apply.\n${body}`;
};

const assignText = ({ policy }: Answers): string =>
  `# Which policy judges an agent: the first rule that fits its id and labels.\n${stringify({
    rules: [{ policy, may_request: 'any' }],
    default: policy,
  })}`;

/** `folder`: the absolute one, because alerting reads a secret from another working directory. */
const settingsOf = (channel: Channel, folder: string): object => {
  switch (channel.kind) {
    case 'ntfy': {
      const { kind, url, topic, token } = channel;
      return { kind, url, topic, ...(token === null ? {} : { token_file: join(folder, SECRETS, 'ntfy') }) };
    }
    case 'slack': {
      const { kind, tokenIn, appTokenIn } = channel;
      const app = appTokenIn === null ? {} : { app_token_env: appTokenIn };
      return { kind, channel: channel.channel, token_env: tokenIn, ...app };
    }
    case 'pagerduty':
      return { kind: channel.kind, url: channel.url, routing_key_env: channel.keyIn };
    case 'alertmanager': {
      const { kind, url, tokenIn } = channel;
      return { kind, url, ...(tokenIn === null ? {} : { token_env: tokenIn }) };
    }
    case 'slack_webhook':
      return { kind: channel.kind, url_file: join(folder, SECRETS, 'slack') };
    case 'webhook':
      return { kind: channel.kind, url: channel.url, secret_file: join(folder, SECRETS, 'webhook') };
    case 'command':
      return { kind: channel.kind, argv: channel.argv };
  }
};

const secretsOf = (channel: Channel): readonly PlannedFile[] => {
  switch (channel.kind) {
    case 'ntfy':
      return channel.token === null ? [] : [secret('ntfy', channel.token)];
    case 'slack_webhook':
      return [secret('slack', channel.address)];
    case 'webhook':
      return [secret('webhook', channel.secret)];
    case 'slack':
    case 'pagerduty':
    case 'alertmanager':
    case 'command':
      return [];
  }
};

const NAMES: Readonly<Record<ChannelKind, string>> = {
  ntfy: 'ntfy',
  slack: 'slack_app',
  slack_webhook: 'slack',
  pagerduty: 'pagerduty',
  alertmanager: 'alertmanager',
  webhook: 'webhook',
  command: 'command',
};

/** The name of a channel in the file of channels: alerts and `vigil alert test` use it. */
export const nameOf = ({ kind }: Channel): string => NAMES[kind];

/** The variables from which alerting takes the secrets of a channel. */
const variablesOf = (channel: Channel): readonly string[] => {
  switch (channel.kind) {
    case 'slack':
      return [channel.tokenIn, ...(channel.appTokenIn === null ? [] : [channel.appTokenIn])];
    case 'pagerduty':
      return [channel.keyIn];
    case 'alertmanager':
      return channel.tokenIn === null ? [] : [channel.tokenIn];
    case 'ntfy':
    case 'slack_webhook':
    case 'webhook':
    case 'command':
      return [];
  }
};

const alertsText = ({ channels }: Answers, folder: string): string =>
  `# Where alerts go. The console is always there. Secrets are in ${SECRETS}/, or in the variables that end with _env.\n${stringify(
    {
      default: ['console', ...channels.map(nameOf)],
      channels: Object.fromEntries(channels.map((channel) => [nameOf(channel), settingsOf(channel, folder)])),
    },
  )}`;

/** Every file of a first configuration. `presetText`: of the answered preset. */
export const filesOf = (answers: Answers, folder: string, presetText: string): readonly PlannedFile[] => [
  file(join('policies', `${answers.policy}.yaml`), policyText(answers, presetText)),
  file(join('policies', 'assign.yaml'), assignText(answers)),
  file('alerts.yaml', alertsText(answers, folder)),
  file('.gitignore', `${SECRETS}/\n`),
  ...answers.channels.flatMap(secretsOf),
];

/** What to do next, with the commands. */
export const nextLines = ({ policy, channels }: Answers, dir: string): readonly string[] => [
  'Next:',
  `  vigil policy check ${join(dir, 'policies')}/*.yaml`,
  `  vigil policy apply ${join(dir, 'policies')}/*.yaml --why "first policy"   while Vigil runs`,
  ...channels
    .flatMap(variablesOf)
    .map((name) => `  export ${name}=…   where Vigil starts: alerting takes the secret from it`),
  `  VIGIL_ALERTS_FILE=${resolve(dir, 'alerts.yaml')} npm start   in the clone of Vigil: alerts go to these channels`,
  ...(channels.length === 0 ? [] : [`  vigil init --test --dir ${dir}   sends a test message to each channel`]),
  `  vigil run --name worker-1 --health-policy ${policy} -- COMMAND`,
];
