import { nearest } from '@vigil/policy';
import type { Answers, Channel, ChannelKind } from './files.ts';

/** Asks a person; the answer without one is `fallback`. A secret is not shown while it is typed. */
export type Ask = (question: string, fallback: string, isSecret?: boolean) => Promise<string>;

/** Null: the answer is valid; otherwise what to write instead. */
type Check = (answer: string) => string | null;

export type Defaults = {
  readonly policy: string;
  readonly presets: readonly string[];
  readonly topic: string;
  readonly secret: string;
  /** the command that is offered; empty: none */
  readonly command: string;
};

const CHANNELS: Readonly<Record<ChannelKind, string>> = {
  ntfy: 'a phone or a browser, by ntfy',
  slack: 'a channel of Slack, by an app: threads, and buttons that answer',
  slack_webhook: 'a channel of Slack, by an incoming webhook: messages only',
  pagerduty: 'a service of PagerDuty',
  alertmanager: "Prometheus' Alertmanager",
  webhook: 'a program, by signed HTTP',
  command: 'a program of this host',
};
const KINDS = Object.keys(CHANNELS) as readonly ChannelKind[];

const asked = async (ask: Ask, question: string, fallback: string, check: Check, isSecret = false): Promise<string> => {
  for (let remedy = ''; ; ) {
    const answer = await ask(`${remedy}${question}`, fallback, isSecret);
    const mistake = check(answer);
    if (mistake === null) return answer;
    remedy = `${mistake}\n`;
  }
};

const isYesOrNo: Check = (text) => (/^(y(es)?|no?)$/i.test(text) ? null : 'Write y or yes, or n or no.');

/** Asks until the answer is a yes or a no; without an answer it is a no. */
export const isYes = async (ask: Ask, question: string): Promise<boolean> =>
  /^y/i.test(await asked(ask, `${question} (y, n)`, 'n', isYesOrNo));

const isName: Check = (text) =>
  /^[a-z0-9][a-z0-9_-]{0,62}$/.test(text) ? null : 'Write lower-case letters, digits, - and _, such as builders.';

const isOneOf =
  (known: readonly string[]): Check =>
  (text) => {
    if (known.includes(text)) return null;
    const near = nearest(text, known);
    return near === null ? `Write one of ${known.join(', ')}.` : `Did you mean ${near}?`;
  };

const isUrl: Check = (text) =>
  /^https?:\/\/./.test(text) && URL.canParse(text) ? null : 'Write an address such as https://host/path.';
const isTopic: Check = (text) =>
  /^[-_A-Za-z0-9]{1,64}$/.test(text) ? null : 'Write letters, digits, - and _, at most 64.';
const isCommand: Check = (text) =>
  text.trim() === '' ? 'Write a program and its arguments, such as PROGRAM {title} {text}.' : null;

const isSlackChannel: Check = (text) =>
  /^[CDG][A-Z0-9]{2,}$/.test(text)
    ? null
    : "Write the channel's id, such as C0123ABCD: it is at the end of its details.";
const isVariable: Check = (text) =>
  /^[A-Z_][A-Z0-9_]*$/.test(text) ? null : 'Write the name of a variable, such as CHANNEL_TOKEN, and not the secret.';

/** Asks for the name of the variable that has a secret: the secret itself is not typed. */
const variableOf = async (ask: Ask, what: string, name: string): Promise<string> =>
  asked(ask, `${what}: the variable that will have it`, name, isVariable);
const optionalVariableOf = async (ask: Ask, what: string, name: string): Promise<string | null> => {
  const answer = await asked(ask, `${what}: the variable that will have it, or none`, name, (text) =>
    text === 'none' ? null : isVariable(text),
  );
  return answer === 'none' ? null : answer;
};

const kindsIn = (text: string): readonly string[] =>
  text.split(/[\s,]+/).filter((word) => word !== '' && word !== 'none');
const areKinds: Check = (text) =>
  kindsIn(text)
    .map(isOneOf(KINDS))
    .find((mistake) => mistake !== null) ?? null;

const PAGERDUTY = 'https://events.pagerduty.com';

const channelOf = async (ask: Ask, kind: ChannelKind, defaults: Defaults): Promise<Channel> => {
  const { topic, secret, command } = defaults;
  switch (kind) {
    case 'ntfy': {
      const url = await asked(ask, 'ntfy: address of the server', 'https://ntfy.sh', isUrl);
      const chosen = await asked(
        ask,
        'ntfy: topic (anybody who has its name can read it, unless the server wants a token)',
        topic,
        isTopic,
      );
      const token = await ask('ntfy: access token (none: Enter)', '', true);
      return { kind, url, topic: chosen, token: token === '' ? null : token };
    }
    case 'slack':
      return {
        kind,
        channel: await asked(ask, 'Slack: id of the channel, to which the app is invited', '', isSlackChannel),
        tokenIn: await variableOf(ask, "Slack: the bot's token (xoxb-…)", 'SLACK_BOT_TOKEN'),
        appTokenIn: await optionalVariableOf(
          ask,
          "Slack: the app's token for Socket Mode (xapp-…), so that buttons answer in place",
          'SLACK_APP_TOKEN',
        ),
      };
    case 'pagerduty':
      return {
        kind,
        url: await asked(ask, 'PagerDuty: address (Europe: https://events.eu.pagerduty.com)', PAGERDUTY, isUrl),
        keyIn: await variableOf(ask, 'PagerDuty: the integration key, Events API v2', 'PAGERDUTY_ROUTING_KEY'),
      };
    case 'alertmanager':
      return {
        kind,
        url: await asked(ask, 'Alertmanager: address', 'http://127.0.0.1:9093', isUrl),
        tokenIn: await optionalVariableOf(ask, 'Alertmanager: bearer token of a proxy before it', 'none'),
      };
    case 'slack_webhook':
      return { kind, address: await asked(ask, 'Slack: address of the incoming webhook', '', isUrl, true) };
    case 'webhook':
      return { kind, url: await asked(ask, 'webhook: address that is posted to', '', isUrl), secret };
    case 'command': {
      const line = await asked(ask, 'command: with {severity}, {title}, {text}', command, isCommand);
      return { kind, argv: line.trim().split(/\s+/) };
    }
  }
};

/** Asks for all that a first configuration needs. */
export const answersOf = async (ask: Ask, defaults: Defaults): Promise<Answers> => {
  const policy = await asked(ask, 'Name of your policy', defaults.policy, isName);
  const presets = defaults.presets.join(', ');
  const preset = await asked(ask, `Preset that it begins as (${presets})`, 'vigil', isOneOf(defaults.presets));
  const offered = KINDS.map((kind) => `  ${kind}: ${CHANNELS[kind]}`).join('\n');
  const kinds = kindsIn(
    await asked(
      ask,
      `Channels for alerts, besides the console:\n${offered}\nWrite some of them, or none`,
      'none',
      areKinds,
    ),
  );
  const channels: Channel[] = [];
  for (const kind of KINDS) if (kinds.includes(kind)) channels.push(await channelOf(ask, kind, defaults));
  return { policy, preset, channels };
};
