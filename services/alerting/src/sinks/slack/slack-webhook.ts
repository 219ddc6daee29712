import { Refused } from '@vigil/chassis';
import { duration } from '@vigil/policy';
import { z } from 'zod';
import { deliveringTo, type Kind } from '../../delivery/sink.ts';
import { GONE, post, type Remedies } from '../http.ts';
import { secretFile, secretOf, variable } from '../secret.ts';
import { blocksOf, lineOf } from './blocks.ts';

const settings = z.strictObject({
  kind: z.literal('slack_webhook'),
  /** the address is the secret */
  url_env: variable,
  url_file: secretFile,
  timeout: duration.default(10_000),
});

const REMEDIES: Remedies = {
  ...GONE,
  403: 'its app was removed from the workspace: create the webhook again',
  404: 'the webhook was removed: create it again',
  410: 'the channel of the webhook is archived',
};

/** An incoming webhook of Slack: one message for each change, because a webhook cannot update what it has posted. */
export const slackWebhook: Kind<typeof settings> = {
  settings,
  open: (name, { url_env, url_file, timeout }, deps) => {
    const url = secretOf(name, 'url', { env: url_env, file: url_file }, deps, 'the address of an incoming webhook');
    if (!/^https?:\/\//.test(url) || !URL.canParse(url))
      throw new Refused(`channels.${name}: its secret is not an address: set it to the address of an incoming webhook`);
    return deliveringTo(name, async (alert) => {
      const blocks = await blocksOf(alert, name, 'link', deps);
      const body = JSON.stringify({ text: lineOf(alert), blocks });
      await post({ url, headers: {}, body, timeout, remedies: REMEDIES }, deps);
    });
  },
};
