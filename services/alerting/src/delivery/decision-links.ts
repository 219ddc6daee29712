import { type DecisionLink, signLink } from '@vigil/chassis/decision-link';
import type { AlertEvent, SinkDeps } from './sink.ts';

export type LinkDeps = Pick<SinkDeps, 'dashboardUrl' | 'linkKey'>;

/** The address of each choice; null: there are no links. Any caller with it may give that one answer without a token of the dashboard. */
export const decisionLinks = async (
  { payload, occurredAt }: AlertEvent,
  options: readonly string[],
  about: Pick<DecisionLink, 'kind' | 'subject'>,
  channel: string,
  { dashboardUrl, linkKey }: LinkDeps,
): Promise<Readonly<Record<string, string>> | null> => {
  if (linkKey === null || !('options' in payload)) return null;
  const { deadlineAt } = payload;
  const addressOf = async (decision: string) => {
    const token = await signLink(linkKey, { ...about, decision, channel, deadlineAt, sentAt: occurredAt });
    return [decision, `${dashboardUrl.replace(/\/$/, '')}/v1/decision?link=${token}`] as const;
  };
  return Object.fromEntries(await Promise.all(options.map(addressOf)));
};
