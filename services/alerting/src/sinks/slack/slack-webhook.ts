import { KIND_SETTINGS, SECRETS } from '@vigil/policy/channels';
import { deliveringTo, type Kind } from '../../delivery/sink.ts';
import { GONE, post, type Remedies } from '../http.ts';
import { secretOf } from '../secret.ts';
import { blocksOf, lineOf } from './blocks.ts';

const REMEDIES: Remedies = {
  ...GONE,
  403: 'its app was removed from the workspace: create the webhook again',
  404: 'the webhook was removed: create it again',
  410: 'the channel of the webhook is archived',
};

/** An incoming webhook of Slack: one message for each change, because a webhook cannot update what it has posted. */
export const slackWebhook: Kind<'slack_webhook'> = {
  settings: KIND_SETTINGS.slack_webhook,
  open: (name, channel, deps) => {
    const { timeout } = channel;
    const url = secretOf(name, 'url', SECRETS.slack_webhook.url, channel, deps);
    return deliveringTo(name, async (alert) => {
      const blocks = await blocksOf(alert, name, 'link', deps);
      const body = JSON.stringify({ text: lineOf(alert), blocks });
      await post({ url, headers: {}, body, timeout, remedies: REMEDIES }, deps);
    });
  },
};
