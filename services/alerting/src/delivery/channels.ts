import { readFileSync } from 'node:fs';
import { Refused } from '@vigil/chassis';
import { CorrectThePolicy, parseYaml } from '@vigil/policy';
import { z } from 'zod';
import { CONSOLE, DEFAULT, type Routing } from '../alert/routing.ts';
import type { LinkDeps } from '../delivery/decision-links.ts';
import type { SinkDeps } from '../delivery/sink.ts';
import { consoleSink } from '../sinks/console.ts';
import { channel, opened } from '../sinks/kinds.ts';
import type { Sink } from './sink.ts';

/** The console, the sinks of VIGIL_ALERTS_FILE, and the default channels. */
export type Channels = { readonly routing: Routing; readonly sinks: readonly Sink[] };

type FromConfig = keyof LinkDeps | 'linearChannels';
type ChannelDeps = Omit<SinkDeps, FromConfig> & { readonly write: (line: string) => void };

/** Names that a channel cannot have, because the groups of the processors use them. */
const TAKEN = [DEFAULT, CONSOLE, 'agent', 'task', 'fleet'];

const name = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,39}$/, 'write lower-case letters, digits, - and _, beginning with a letter, at most 40')
  .refine((one) => !TAKEN.includes(one), `write another name; these are reserved: ${TAKEN.join(', ')}`);
const document = z
  .strictObject({
    default: z.array(z.string()).min(1, 'name at least one channel, such as console').default([CONSOLE]),
    channels: z.record(name, channel).default({}),
  })
  .check(({ value, issues }) => {
    for (const [place, one] of value.default.entries())
      if (one !== CONSOLE && !Object.hasOwn(value.channels, one)) {
        const message = `there is no channel ${one}: add it under channels`;
        issues.push({ code: 'custom', message, input: one, path: ['default', place] });
      }
  });

type Config = {
  readonly VIGIL_ALERTS_FILE?: string | undefined;
  readonly VIGIL_DASHBOARD_URL: string;
  readonly VIGIL_LINK_KEY?: string | undefined;
};

/** Without a file, the console alone. Throws Refused with every mistake and its place. */
export const openChannels = (
  { VIGIL_ALERTS_FILE: file, VIGIL_DASHBOARD_URL: dashboardUrl, VIGIL_LINK_KEY }: Config,
  deps: ChannelDeps,
): Channels => {
  const read =
    file === undefined
      ? { defaults: [CONSOLE], sinks: [] }
      : readChannels(file, { ...deps, dashboardUrl, linkKey: VIGIL_LINK_KEY ?? null });
  const configured = [CONSOLE, ...read.sinks.map((sink) => sink.name)];
  const routing = { defaults: read.defaults, configured };
  return { routing, sinks: [consoleSink(deps.write, configured), ...read.sinks] };
};

const readChannels = (
  file: string,
  given: Omit<SinkDeps, 'linearChannels'>,
): { defaults: readonly string[]; sinks: readonly Sink[] } => {
  const read = document.safeParse(parsed(file) ?? {});
  if (!read.success)
    throw refusal(
      file,
      read.error.issues.flatMap((issue) => textsOf(issue).map((text) => `${issue.path.join('.')}: ${text}`)),
    );
  const linearChannels = Object.entries(read.data.channels).flatMap(([one, { kind }]) =>
    kind === 'linear' ? [one] : [],
  );
  const deps = { ...given, linearChannels };
  const mistakes: string[] = [];
  const sinks = Object.entries(read.data.channels).flatMap(([one, settings]) => {
    try {
      return [opened(one, settings, deps)];
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      mistakes.push(error.message);
      return [];
    }
  });
  if (mistakes.length > 0) throw refusal(file, mistakes);
  return { defaults: read.data.default, sinks };
};

/** A name that a channel cannot have is an issue whose own issues have the remedy. */
const textsOf = (issue: z.core.$ZodIssue): readonly string[] =>
  issue.code === 'invalid_key' ? issue.issues.map(({ message }) => message) : [issue.message];

const parsed = (file: string): unknown => {
  try {
    return parseYaml(readFileSync(file, 'utf8'), file);
  } catch (error) {
    // Below its first line a mistake quotes the file, where addresses may be secrets.
    if (error instanceof CorrectThePolicy) throw refusal(file, error.mistakes.map(firstLine));
    throw new Refused(`VIGIL_ALERTS_FILE ${file} cannot be read: ${(error as Error).message}`);
  }
};

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? '';

const refusal = (file: string, mistakes: readonly string[]): Refused =>
  new Refused(`VIGIL_ALERTS_FILE ${file} cannot be used:\n${mistakes.map((one) => `  ${one}`).join('\n')}`);
