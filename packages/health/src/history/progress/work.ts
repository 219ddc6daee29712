import { type Heartbeat, instant, type Receipt } from '../moment.ts';

/** The known state of the work item. A mark is null until it is reported. */
export type Work = {
  readonly id: string;
  /** as sent; compared only with its own later values */
  readonly sentUpdate: number | null;
  readonly comments: number | null;
  /** mark of the last update or comment, on the watched axis */
  readonly touched: number | null;
  /** the same by its own timestamp, however old; for comparison only, never an age */
  readonly dated: number | null;
  readonly sentClaim: number | null;
  /** mark of the last refresh of the claim; null without a claim */
  readonly claim: number | null;
} | null;

type Report = NonNullable<Heartbeat['work']>;

export const workAfter = (known: Work, { work: report }: Heartbeat, receipt: Receipt): Work => {
  if (report === null) return known;
  const before = known?.id === report.id ? known : null;
  const { updated_at: updated, comment_count: comments } = report;
  const newer = updated !== null && (before === null || before.sentUpdate === null || updated > before.sentUpdate);
  const commented = comments !== null && (before === null || before.comments === null || comments > before.comments);
  const claim = claimAfter(before, report, receipt);
  if (before && !newer && !commented && claim.claim === before.claim) return before;
  return {
    id: report.id,
    sentUpdate: newer ? updated : (before?.sentUpdate ?? null),
    comments: commented ? comments : (before?.comments ?? null),
    touched: touchedAt(before, newer ? updated : null, newer || commented, receipt),
    dated: newer ? receipt.watched - Math.max(0, receipt.stamp - updated) : (before?.dated ?? null),
    ...claim,
  };
};

const touchedAt = (before: Work, updated: number | null, touched: boolean, receipt: Receipt): number | null => {
  if (!touched) return before?.touched ?? null;
  return Math.max(before?.touched ?? 0, instant(receipt, updated).watched);
};

const claimAfter = (before: Work, { claim_refreshed_at: sent }: Report, receipt: Receipt) => {
  if (sent === null) return { sentClaim: null, claim: null };
  if (before !== null && before.sentClaim !== null && sent <= before.sentClaim)
    return { sentClaim: before.sentClaim, claim: before.claim };
  return { sentClaim: sent, claim: instant(receipt, sent).watched };
};
