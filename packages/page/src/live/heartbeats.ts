import type { HeartbeatEvent } from '../model/activity.ts';
import { plainJson } from '../model/text.ts';

const RECONNECT_MS = 2000;

type Event = HeartbeatEvent & { readonly type: string };

/** Whole lines of a stream, and the rest. */
const linesOf = (text: string): readonly [lines: readonly string[], rest: string] => {
  const lines = text.split('\n');
  const rest = lines.pop() ?? '';
  return [lines.filter((line) => line !== ''), rest];
};

const readStream = async (agentId: string, onHeartbeat: (event: HeartbeatEvent) => void, signal: AbortSignal) => {
  const query = new URLSearchParams({ agent: agentId, topic: 'agentObservation', heartbeats: 'true' });
  const response = await fetch(`/v1/events?${query}`, { signal, headers: { accept: 'application/x-ndjson' } });
  if (!response.ok || response.body === null) return;
  let rest = '';
  for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
    const [lines, unfinished] = linesOf(rest + part);
    rest = unfinished;
    for (const line of lines) {
      const event = plainJson(line) as Event;
      if (event.type === 'AGENT_HEARTBEAT') onHeartbeat(event);
    }
  }
};

/** Follows the heartbeats of one agent while its view is open. Returns how it ends. */
export const followHeartbeats = (agentId: string, onHeartbeat: (event: HeartbeatEvent) => void): (() => void) => {
  const stop = new AbortController();
  const follow = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await readStream(agentId, onHeartbeat, stop.signal).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
    }
  };
  void follow();
  return () => stop.abort();
};
