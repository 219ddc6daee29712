import { z } from 'zod';
import { parseYaml } from '../compile/compile.ts';
import { CorrectThePolicy, type Mistake, type Path, place, reading, shown, valueAt } from '../document/mistakes.ts';
import { type ChannelSettings, channel } from './kinds.ts';
import { findSecret, SECRETS, type Secret } from './secrets.ts';

export { type ChannelSettings, KIND_SETTINGS, PLACEHOLDER, type Placeholder } from './kinds.ts';
export { findSecret, SECRETS, type Secret, webhookKeys } from './secrets.ts';
export type { SinkKind } from './sink-kinds.ts';

/** Always there. */
const CONSOLE = 'console';

/** Names that a channel cannot have, because the groups of alerting's processors use them. */
const TAKEN = ['default', CONSOLE, 'agent', 'task', 'fleet'];

const name = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,39}$/, 'write lower-case letters, digits, - and _, beginning with a letter, at most 40')
  .refine((one) => !TAKEN.includes(one), `write another name; these are reserved: ${TAKEN.join(', ')}`);

const document = z
  .strictObject({
    default: z
      .array(z.string())
      .refine((names) => names.length > 0, 'name at least one channel, such as console')
      .default([CONSOLE]),
    channels: z.record(name, channel).default({}),
  })
  .check(({ value, issues }) => {
    for (const [at, one] of value.default.entries())
      if (one !== CONSOLE && !Object.hasOwn(value.channels, one)) {
        const message = `there is no channel ${one}: add it under channels`;
        issues.push({ code: 'custom', message, input: one, path: ['default', at] });
      }
  });

/** The channels of a file: those of alerts that name none, and all by their names. */
export type ChannelsFile = {
  readonly defaults: readonly string[];
  readonly channels: Readonly<Record<string, ChannelSettings>>;
};

/** A file of channels that cannot be used, with all its mistakes, each with its place and remedy, and without a secret. */
export class CorrectTheChannels extends Error {
  override readonly name = 'CorrectTheChannels';
  readonly mistakes: readonly string[];
  constructor(source: string, mistakes: readonly string[]) {
    const count = mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`;
    super(`${source} has ${count}:\n${mistakes.map((one) => `  - ${one}`).join('\n')}`);
    this.mistakes = mistakes;
  }
}

/** Text of a file of channels. Throws CorrectTheChannels with every mistake. `source` names the file. */
export const readChannels = (text: string, source: string): ChannelsFile => {
  const written = parsed(text, source) ?? {};
  const read = reading(document, written);
  if ('value' in read) return { defaults: read.value.default, channels: read.value.channels };
  throw new CorrectTheChannels(
    source,
    read.mistakes.map(
      (mistake) => `${place(mistake.path)}: ${withoutSecrets(mistake, valueAt(written, mistake.path))}`,
    ),
  );
};

/** Below its first line a mistake quotes the file, where addresses may be secrets. */
const parsed = (text: string, source: string): unknown => {
  try {
    return parseYaml(text, source);
  } catch (error) {
    if (!(error instanceof CorrectThePolicy)) throw error;
    throw new CorrectTheChannels(
      source,
      error.mistakes.map((one) => one.split('\n', 1)[0] ?? ''),
    );
  }
};

/** Settings whose value is never a secret. In any other one, people may have written it. */
const SHOWN: readonly PropertyKey[] = [
  'kind',
  'channel',
  'topic',
  'state',
  'timeout',
  'root',
  'friction',
  'dispatch_log',
];

const isShown = (path: Path): boolean => path[0] === 'default' || SHOWN.includes(path.at(-1) ?? '');

/** A mistake with the value that was written, unless that may be a secret. */
const withoutSecrets = ({ path, message }: Mistake, value: unknown): string => {
  const written = shown(value);
  if (value === undefined) return message;
  if (!isShown(path)) return message.replaceAll(written, 'its value');
  return message.includes(written) || message.includes(String(value)) ? message : `${written}: ${message}`;
};

/** What a start of alerting on this machine lacks: mistakes, and secrets that another machine may have. */
export type SecretsCheck = { readonly mistakes: readonly string[]; readonly away: readonly string[] };

/** Looks for the secrets of all channels, as alerting does at its start. */
export const checkSecrets = (
  { channels }: Pick<ChannelsFile, 'channels'>,
  env: Readonly<Record<string, string | undefined>>,
): SecretsCheck => {
  const found = Object.entries(channels).flatMap(([one, settings]) =>
    Object.entries<Secret>(SECRETS[settings.kind]).map(([setting, secret]) =>
      findSecret(`channels.${one}`, setting, secret, settings, env),
    ),
  );
  const wrong = found.flatMap((one) => ('mistake' in one ? [one] : []));
  return {
    mistakes: wrong.filter(({ isAway }) => !isAway).map(({ mistake }) => mistake),
    away: wrong.filter(({ isAway }) => isAway).map(({ mistake }) => mistake),
  };
};
