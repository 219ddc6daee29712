import type { ChannelSettings, SinkKind } from '@vigil/policy/channels';
import { files } from '../adapters/omniclaude-files.ts';
import type { Kind, Sink, SinkDeps } from '../delivery/sink.ts';
import { alertmanager } from './alertmanager.ts';
import { command } from './command.ts';
import { linear } from './linear.ts';
import { ntfy } from './ntfy.ts';
import { pagerduty } from './pagerduty.ts';
import { slack } from './slack/slack.ts';
import { slackWebhook } from './slack/slack-webhook.ts';
import { webhook } from './webhook.ts';

/** To add a kind of sink: CONTRIBUTING.md has the list, and the compiler asks for it here. */
export const KINDS: { readonly [K in SinkKind]: Kind<K> } = {
  slack,
  slack_webhook: slackWebhook,
  ntfy,
  pagerduty,
  alertmanager,
  linear,
  webhook,
  command,
  files,
};

type Settings<K extends SinkKind> = Extract<ChannelSettings, { readonly kind: K }>;
type Openers = {
  readonly [K in SinkKind]: { readonly open: (name: string, settings: Settings<K>, deps: SinkDeps) => Sink };
};
const OPENERS: Openers = KINDS;

/** The sink of a channel. Throws Refused with what to do. */
export const opened = <K extends SinkKind>(
  name: string,
  settings: Settings<K> & { readonly kind: K },
  deps: SinkDeps,
): Sink => OPENERS[settings.kind].open(name, settings, deps);
