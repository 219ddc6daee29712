import path from 'node:path';
import { FOLDERS } from '@vigil/events';
import { z } from 'zod';
import { duration } from '../values/duration-type.ts';
import { secretFile, variable } from './secrets.ts';
import { SINK_KINDS, type SinkKind } from './sink-kinds.ts';

/** The names that `{…}` in an argument of a command may have. */
export const PLACEHOLDERS = ['what', 'severity', 'route', 'title', 'text', 'agent', 'task', 'case'] as const;
export type Placeholder = (typeof PLACEHOLDERS)[number];
/** A placeholder in an argument; its first group is the name. */
export const PLACEHOLDER = /\{([a-z_]+)\}/g;

const httpUrl = (remedy: string) => z.url({ protocol: /^https?$/, error: remedy });
const timeout = duration.default(10_000);

const slack = z.strictObject({
  kind: z.literal('slack'),
  url: httpUrl('write the address of the Web API').default('https://slack.com/api/'),
  channel: z.string().regex(/^[CDG][A-Z0-9]{2,}$/, "write the channel's id, such as C0123ABCD: it is in its details"),
  /** the bot's token, with the scopes chat:write, channels:history and groups:history */
  token_env: variable,
  token_file: secretFile,
  /** the app's token, with the scope connections:write: buttons then answer without a public address */
  app_token_env: variable,
  app_token_file: secretFile,
  timeout,
});

const slackWebhook = z.strictObject({
  kind: z.literal('slack_webhook'),
  /** the address is the secret */
  url_env: variable,
  url_file: secretFile,
  timeout,
});

const ntfy = z.strictObject({
  kind: z.literal('ntfy'),
  url: httpUrl('write the address of the server, such as https://ntfy.example').default('https://ntfy.sh'),
  topic: z.string().regex(/^[-_A-Za-z0-9]{1,64}$/, 'write letters, digits, - and _, at most 64'),
  /** an access token of the server; without both, the topic is public to all who know its name */
  token_env: variable,
  token_file: secretFile,
  timeout,
});

const pagerduty = z.strictObject({
  kind: z.literal('pagerduty'),
  url: httpUrl('write the address of the events API').default('https://events.pagerduty.com'),
  /** the integration key of a service: Events API v2 */
  routing_key_env: variable,
  routing_key_file: secretFile,
  timeout,
});

const alertmanager = z.strictObject({
  kind: z.literal('alertmanager'),
  url: httpUrl('write the address of Alertmanager, such as http://alertmanager:9093'),
  /** a bearer token, if a proxy before it requires one */
  token_env: variable,
  token_file: secretFile,
  timeout,
});

const linear = z.strictObject({
  kind: z.literal('linear'),
  url: httpUrl('write the address of the GraphQL API').default('https://api.linear.app/graphql'),
  /** a personal API key */
  api_key_env: variable,
  api_key_file: secretFile,
  /** the name of the workflow state that the issue gets */
  state: z.string().min(1).default('Blocked'),
  timeout,
});

const webhook = z.strictObject({
  kind: z.literal('webhook'),
  url: httpUrl('write the address that is posted to, such as https://orchestrator.example/vigil').refine(
    (url) => !URL.canParse(url) || new URL(url).username + new URL(url).password === '',
    'write no name and password into it: none are sent, and the signature authenticates the sender',
  ),
  secret_env: variable,
  secret_file: secretFile,
  timeout,
});

/** What an argument has in braces that is not a placeholder. */
const unknownIn = (argument: string): readonly string[] =>
  [...argument.matchAll(PLACEHOLDER)].flatMap(([written, name = '']) =>
    (PLACEHOLDERS as readonly string[]).includes(name) ? [] : [written],
  );

const argument = z.string().superRefine((one, context) => {
  const unknown = unknownIn(one);
  const message = `${unknown.join(', ')} is not a placeholder: write one of {${PLACEHOLDERS.join('}, {')}}`;
  if (unknown.length > 0) context.addIssue({ code: 'custom', message });
});

const command = z.strictObject({
  kind: z.literal('command'),
  argv: z
    .array(argument)
    .refine((argv) => argv.length > 0, 'write the command and its arguments, such as [botbus, send, ops, "{title}"]'),
  timeout,
  /** names of the variables that it gets besides the usual ones */
  env: z.array(z.string().regex(/^[A-Za-z_]\w*$/, 'write the name of a variable, such as BOTBUS_TOKEN')).default([]),
});

const within = z
  .string()
  .refine((folder) => !path.isAbsolute(folder) && !folder.split(/[\\/]/).includes('..'), 'write a folder below root');

const files = z.strictObject({
  kind: z.literal('files'),
  root: z
    .string(`write the folder that has ${FOLDERS.state}`)
    .refine(path.isAbsolute, 'write it from / on: the service has a folder of its own'),
  friction: within.default(FOLDERS.friction),
  dispatch_log: within.default(FOLDERS.dispatchLog),
});

/** The settings of a channel of each kind. */
export const KIND_SETTINGS = {
  slack,
  slack_webhook: slackWebhook,
  ntfy,
  pagerduty,
  alertmanager,
  linear,
  webhook,
  command,
  files,
} as const satisfies Readonly<Record<SinkKind, z.ZodType>>;

const written = SINK_KINDS.map((kind) => `kind: ${kind}`);
const { slack: first, ...others } = KIND_SETTINGS;

/** How a channel is configured. */
export const channel = z.discriminatedUnion('kind', [first, ...Object.values(others)], {
  error: `write ${written.slice(0, -1).join(', ')} or ${written.at(-1)}`,
});
export type ChannelSettings = z.output<typeof channel>;
