import { type Announcement, type AnnouncementContext, announcement } from './events.ts';

/** The answers to a person's holds and releases, each with the correlation id of its command. */
export const holdsAnswered = (context: AnnouncementContext): readonly Announcement[] =>
  (context.state.holds ?? []).map(({ held, until, by, why, refused, correlationId }) => ({
    ...(refused === null
      ? announcement(context, 'HOLD_CHANGED', { held, until, by, why })
      : announcement(context, 'HOLD_REFUSED', { held, by, why, reason: refused })),
    correlationId,
  }));
