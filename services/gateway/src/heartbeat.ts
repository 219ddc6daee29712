import { type Heartbeat, parseHeartbeat } from '@vigil/events';

/** One heartbeat as parsed JSON; which way it came is ours to say. Throws Unfit. */
export const readHeartbeat = (body: unknown): Heartbeat => ({ ...parseHeartbeat(body), door: 'gateway' });
