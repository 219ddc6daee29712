import type { SinkKind } from '@vigil/policy';
import { z } from 'zod';
import { files } from '../adapters/omniclaude-files.ts';
import type { Sink, SinkDeps } from '../delivery/sink.ts';
import { alertmanager } from './alertmanager.ts';
import { command } from './command.ts';
import { linear } from './linear.ts';
import { ntfy } from './ntfy.ts';
import { pagerduty } from './pagerduty.ts';
import { slack } from './slack/slack.ts';
import { slackWebhook } from './slack/slack-webhook.ts';
import { webhook } from './webhook.ts';

/** To add a kind of sink: a file beside this one, its name in SINK_KINDS of packages/policy, and what the compiler then asks for here. */
export const KINDS = {
  slack,
  slack_webhook: slackWebhook,
  ntfy,
  pagerduty,
  alertmanager,
  linear,
  webhook,
  command,
  files,
} satisfies Record<SinkKind, unknown>;

const { slack: first, ...others } = KINDS;
const written = Object.keys(KINDS).map((kind) => `kind: ${kind}`);

/** How a channel is configured. */
export const channel = z.discriminatedUnion(
  'kind',
  [first.settings, ...Object.values(others).map(({ settings }) => settings)],
  { error: `write ${written.slice(0, -1).join(', ')} or ${written.at(-1)}` },
);
type Settings = { readonly [K in SinkKind]: z.output<(typeof KINDS)[K]['settings']> & { readonly kind: K } };
type Openers = {
  readonly [K in SinkKind]: { readonly open: (name: string, settings: Settings[K], deps: SinkDeps) => Sink };
};
const OPENERS: Openers = KINDS;

/** The sink of a channel. Throws Refused with what to do. */
export const opened = <K extends SinkKind>(name: string, settings: Settings[K], deps: SinkDeps): Sink =>
  OPENERS[settings.kind].open(name, settings, deps);
