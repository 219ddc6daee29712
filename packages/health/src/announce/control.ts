import { type Announcement, type AnnouncementContext, announcement } from './events.ts';

/** The answers to commands about the agent, each with the correlation id of its command. */
export const controlsAnswered = (context: AnnouncementContext): readonly Announcement[] =>
  (context.state.controls ?? []).map(({ refused, correlationId, ...asked }) => ({
    ...(refused === null
      ? announcement(context, 'CONTROL_APPLIED', asked)
      : announcement(context, 'CONTROL_REFUSED', { ...asked, reason: refused })),
    correlationId,
  }));
