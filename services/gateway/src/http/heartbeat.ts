import { type Heartbeat, type Remark, readHeartbeat as read } from '@vigil/events';

/** `remarks`: accepted fields that its sender may have meant otherwise */
export type Sent = { readonly heartbeat: Heartbeat; readonly remarks: readonly Remark[] };

/** One heartbeat as parsed JSON. Throws Unfit. */
export const readHeartbeat = (body: unknown): Sent => {
  const remarks: Remark[] = [];
  return { heartbeat: read(body, remarks), remarks };
};
