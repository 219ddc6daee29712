import type { Input, Times } from './alert-state.ts';
import { SINK_FAILING } from './routing.ts';

/** Commands count in their order, and so do reports of sinks' processes, which have their own clocks. */
const isDated = (input: Input): input is Extract<Input, { readonly type: 'NOTIFY' }> =>
  input.type === 'NOTIFY' && input.payload.route !== SINK_FAILING;

export function timesAfter(times: Times, input: Input): Times {
  if (!isDated(input)) return times;
  const { occurredAt: at } = input;
  switch (input.payload.action) {
    case 'raise':
      return at > times.raised ? { ...times, raised: at } : times;
    case 'resolve':
      return at > times.over ? { ...times, over: at } : times;
    case 'dismiss':
    case 'settle':
    case 'UNKNOWN':
      return times;
  }
}

/** The input happened before a contrary one. In the same millisecond the later record counts. */
export function isBefore(times: Times, input: Input): boolean {
  if (!isDated(input)) return false;
  switch (input.payload.action) {
    case 'raise':
      return input.occurredAt < times.over;
    case 'resolve':
      return input.occurredAt < times.raised;
    case 'dismiss':
    case 'settle':
    case 'UNKNOWN':
      return false;
  }
}
