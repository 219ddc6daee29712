import { readFileSync } from 'node:fs';
import { Refused } from '@vigil/chassis';
import { type ChannelsFile, CorrectTheChannels, checkSecrets, readChannels } from '@vigil/policy/channels';
import { CONSOLE, type Routing } from '../alert/routing.ts';
import type { LinkDeps } from '../delivery/decision-links.ts';
import type { SinkDeps } from '../delivery/sink.ts';
import { consoleSink } from '../sinks/console.ts';
import { opened } from '../sinks/kinds.ts';
import type { Sink } from './sink.ts';

/** The console, the sinks of VIGIL_ALERTS_FILE, and the default channels. */
export type Channels = { readonly routing: Routing; readonly sinks: readonly Sink[] };

type FromConfig = keyof LinkDeps | 'linearChannels';
type ChannelDeps = Omit<SinkDeps, FromConfig> & { readonly write: (line: string) => void };

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
      : openAll(file, { ...deps, dashboardUrl, linkKey: VIGIL_LINK_KEY ?? null });
  const configured = [CONSOLE, ...read.sinks.map((sink) => sink.name)];
  const routing = { defaults: read.defaults, configured };
  return { routing, sinks: [consoleSink(deps.write, configured), ...read.sinks] };
};

const openAll = (
  file: string,
  given: Omit<SinkDeps, 'linearChannels'>,
): { defaults: readonly string[]; sinks: readonly Sink[] } => {
  const { defaults, channels } = channelsIn(file);
  const linearChannels = Object.entries(channels).flatMap(([one, { kind }]) => (kind === 'linear' ? [one] : []));
  const deps = { ...given, linearChannels };
  const { mistakes: wrong, away } = checkSecrets({ channels }, deps.env);
  // An opener repeats the first mistake of its channel's secrets.
  const mistakes = new Set([...wrong, ...away]);
  const sinks = Object.entries(channels).flatMap(([one, settings]) => {
    try {
      return [opened(one, settings, deps)];
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      mistakes.add(error.message);
      return [];
    }
  });
  if (mistakes.size > 0) throw refusal(file, [...mistakes]);
  return { defaults, sinks };
};

const channelsIn = (file: string): ChannelsFile => {
  try {
    return readChannels(readFileSync(file, 'utf8'), file);
  } catch (error) {
    if (error instanceof CorrectTheChannels) throw refusal(file, error.mistakes);
    throw new Refused(`VIGIL_ALERTS_FILE ${file} cannot be read: ${(error as Error).message}`);
  }
};

const refusal = (file: string, mistakes: readonly string[]): Refused =>
  new Refused(`VIGIL_ALERTS_FILE ${file} cannot be used:\n${mistakes.map((one) => `  ${one}`).join('\n')}`);
