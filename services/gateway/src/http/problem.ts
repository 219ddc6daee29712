/**
 * What a caller did wrong, as RFC 9457 problem+json: `reason` is one word of docs/bad-input.md, the same that a dead letter carries.
 * `field` is the path in the heartbeat or receipt, `index` its place where several were sent.
 */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;
  readonly reason: string;
  readonly field: string | null;
  readonly index: number | null;
  constructor(
    status: number,
    reason: string,
    detail: string,
    { field = null, index = null }: { field?: string | null; index?: number | null } = {},
  ) {
    super(detail);
    this.status = status;
    this.reason = reason;
    this.field = field;
    this.index = index;
  }
}

const titles: Readonly<Record<number, string>> = {
  400: 'Not understood',
  401: 'Not allowed in',
  403: 'Not yours',
  404: 'Not here',
  409: 'Not so',
  413: 'Too large',
  415: 'Not JSON',
  429: 'Too many',
  503: 'Not ready',
};

/** The body of a problem response. Texts of the caller appear in it as JSON strings only. */
export const problemBody = ({ status, reason, message, field, index }: Problem): Record<string, unknown> => ({
  type: `urn:vigil:problem:${reason}`,
  title: titles[status] ?? 'Failed',
  status,
  detail: message,
  field,
  index,
});
