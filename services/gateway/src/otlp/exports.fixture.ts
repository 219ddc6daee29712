import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type Heartbeat, type ToolCall, Topic } from '@vigil/events';
import { expect } from 'vitest';
import type { testGateway } from '../testing.ts';

/** One request of an exporter. `protobuf`: base64 */
export type Export = { readonly signal: string; readonly json?: unknown; readonly protobuf?: string };

/** What a real client exported, in order. */
export const recorded = (name: string): readonly Export[] =>
  gunzipSync(readFileSync(path.join(import.meta.dirname, 'recordings', `${name}.jsonl.gz`)))
    .toString('utf8')
    .trim()
    .split('\n')
    .map((line): Export => JSON.parse(line));

type Attribute = string | number;

export const attributes = (pairs: Readonly<Record<string, Attribute>>) =>
  Object.entries(pairs).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }));

/** Epoch milliseconds as nanoseconds. */
export const nano = (milliseconds: number): string => `${milliseconds}000000`;

/** An exporter that sends to a gateway, and what the gateway reports. */
export const exporter = ({ log, post, postRaw }: ReturnType<typeof testGateway>) => {
  const send = ({ signal, json, protobuf }: Export, headers: Record<string, string> = {}): Promise<Response> =>
    protobuf === undefined
      ? post(`/otlp/v1/${signal}`, json, headers)
      : postRaw(`/otlp/v1/${signal}`, new Uint8Array(Buffer.from(protobuf, 'base64')), {
          'content-type': 'application/x-protobuf',
          ...headers,
        });
  const heartbeats = (): readonly Heartbeat[] =>
    log()
      .events(Topic.heartbeat)
      .map(({ payload }) => payload as Heartbeat);
  return {
    send,
    heartbeats,
    /** The heartbeats after a recording was sent. */
    exported: async (name: string): Promise<readonly Heartbeat[]> => {
      for (const one of recorded(name)) expect((await send(one)).status).toBe(200);
      return heartbeats();
    },
  };
};

const bodyOf = ({ json, protobuf }: Export): Buffer =>
  protobuf === undefined ? Buffer.from(JSON.stringify(json)) : Buffer.from(protobuf, 'base64');

/** Sends a recording as an exporter with compression does. */
export const sendCompressed = async ({ postRaw }: ReturnType<typeof testGateway>, name: string): Promise<void> => {
  for (const one of recorded(name)) {
    const type = one.protobuf === undefined ? 'application/json' : 'application/x-protobuf';
    const headers = { 'content-type': type, 'content-encoding': 'gzip' };
    const sent = await postRaw(`/otlp/v1/${one.signal}`, new Uint8Array(gzipSync(bodyOf(one))), headers);
    expect(sent.status).toBe(200);
  }
};

/** Each call as it was reported last. */
export const callsOf = (all: readonly Heartbeat[]): readonly ToolCall[] => {
  const newest = new Map(all.flatMap(({ tool_calls }) => tool_calls).map((call) => [call.call_id, call]));
  return [...newest.values()];
};
