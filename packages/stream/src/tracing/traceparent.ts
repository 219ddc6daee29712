import type { Headers } from '../log/log.ts';

/** https://www.w3.org/TR/trace-context/#traceparent-header-field-values */
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Every later event repeats the header, so only a valid trace context is used. It has 55 characters. */
export const traceparentOf = ({ traceparent }: Headers): string | undefined =>
  traceparent !== undefined && TRACEPARENT.test(traceparent) ? traceparent : undefined;
