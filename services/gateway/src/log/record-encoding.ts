import {
  type BodyOf,
  type Heartbeat,
  type PayloadOf,
  type PolicyRef,
  PROOF_HEADER,
  type SignProof,
  Topic,
  type TopicName,
} from '@vigil/events';
import { type Log, type OutRecord, partitionOf } from '@vigil/stream';
import { v5 } from 'uuid';
import { Problem } from '../http/problem.ts';
import type { RuntimeReport } from '../http/receipts.ts';
import type { Principal } from '../http/tokens.ts';
import type { TerminalDraft } from '../terminals/report.ts';

export const WRITTEN = [
  Topic.heartbeat,
  Topic.orderReceipt,
  Topic.spawnReceipt,
  Topic.controlAgent,
  Topic.handleRequest,
  Topic.runtimePresence,
  Topic.token,
  Topic.agentTerminal,
] as const;

/** A record with its batch around it must fit the topic's 512 KiB. */
const LARGEST_RECORD = 500_000;

/** Of the ids of what the gateway writes; random, once. */
const NAMESPACE = '8f0d6c1e-6a54-4f0b-9b57-2f6c3f1f7a11';

export type RecordEncoding = Awaited<ReturnType<typeof openRecordEncoding>>;

/**
 * Encodes what a runtime or an agent reports as records of the log. `ingress`: the ingress that heartbeats are marked
 * with; it replaces a value that their sender sets. `signProof`: null where the gateway has no key, and proves nothing.
 */
export const openRecordEncoding = async (log: Log, ingress: string, signProof: SignProof | null) => {
  const counts = new Map<TopicName, number>();
  for (const topic of WRITTEN) counts.set(topic, await log.partitionCount(topic));

  const record = (topic: (typeof WRITTEN)[number], key: string, value: Buffer): OutRecord => {
    if (value.length > LARGEST_RECORD)
      throw new Problem(
        413,
        'too_large',
        `what ${key} reports has ${value.length} bytes: at most ${LARGEST_RECORD} are taken`,
      );
    return { topic, partition: partitionOf(key, counts.get(topic) ?? 1), key, value };
  };

  return {
    /** Throws Problem where it is larger than a record may be. `now`: epoch milliseconds */
    heartbeat: (principal: Principal, heartbeat: Heartbeat, now: number): OutRecord => {
      const verified = signProof === null ? null : verifiedBy(principal);
      const payload = { ...heartbeat, ingress, verified };
      const value = log.codec.encode({ topic: Topic.heartbeat, type: 'HEARTBEAT', payload });
      const written = record(Topic.heartbeat, payload.agent_id, value);
      if (signProof === null) return written;
      return { ...written, headers: { [PROOF_HEADER]: signProof(payload.agent_id, value, now) } };
    },
    /** `correlationId`: what the order it answers began; `now`: epoch milliseconds */
    report: (report: RuntimeReport, correlationId: string | null, now: number): OutRecord => {
      const identity = identityOf(report, now);
      const envelope = envelopeOf([report.type, ...identity], correlationId ?? identity[0], now);
      return record(report.topic, report.key, log.codec.encode({ ...report, ...envelope }));
    },
    /** The same request again is another record. `now`: epoch milliseconds */
    opening: ({ payload, policy }: RequestOpening, now: number): OutRecord => {
      const { requestId, agentId, heldBy } = payload;
      const envelope = { ...envelopeOf(['OPEN_REQUEST', requestId, heldBy, String(now)], requestId, now), policy };
      const value = log.codec.encode({ topic: Topic.handleRequest, type: 'OPEN_REQUEST', payload, ...envelope });
      return record(Topic.handleRequest, agentId, value);
    },
    /** `now`: epoch milliseconds */
    withdrawal: (payload: PayloadOf<typeof Topic.handleRequest, 'WITHDRAW_REQUEST'>, now: number): OutRecord => {
      const { requestId, agentId } = payload;
      const envelope = envelopeOf(['WITHDRAW_REQUEST', requestId, String(now)], requestId, now);
      const value = log.codec.encode({ topic: Topic.handleRequest, type: 'WITHDRAW_REQUEST', payload, ...envelope });
      return record(Topic.handleRequest, agentId, value);
    },
    /** `now`: epoch milliseconds */
    terminal: (draft: TerminalDraft, now: number): OutRecord => {
      const { agentId, instanceId } = draft.payload;
      const sequence = draft.type === 'TERMINAL_CHANGED' ? draft.payload.sequence : -1;
      const identity = [draft.type, agentId, instanceId ?? '', String(sequence), String(now)];
      const envelope = envelopeOf(identity, v5(identity.join('/'), NAMESPACE), now);
      return record(Topic.agentTerminal, draft.key, log.codec.encode({ ...draft, ...envelope }));
    },
    /** `now`: epoch milliseconds */
    token: (event: BodyOf<typeof Topic.token> & { readonly key: string }, now: number): OutRecord => {
      const { tokenId } = event.payload;
      const envelope = envelopeOf([event.type, tokenId, String(now)], tokenId, now);
      return record(Topic.token, event.key, log.codec.encode({ topic: Topic.token, ...event, ...envelope }));
    },
  };
};

/** A request as it is opened, under the policy that sets its deadline. */
export type RequestOpening = {
  readonly payload: PayloadOf<typeof Topic.handleRequest, 'OPEN_REQUEST'>;
  readonly policy: PolicyRef | null;
};

const verifiedBy = (principal: Principal): Heartbeat['verified'] =>
  principal.kind === 'operator'
    ? { kind: 'operator', name: 'operator' }
    : { kind: principal.kind, name: principal.name };

const envelopeOf = (identity: readonly string[], correlationId: string, now: number) => ({
  eventId: v5(identity.join('/'), NAMESPACE),
  stateKey: null,
  version: null,
  epoch: null,
  occurredAt: now,
  correlationId,
  causationId: null,
  policy: null,
});

/** What identifies a report when it is sent again: a runtime repeats a report until it is answered. */
const identityOf = (report: RuntimeReport, now: number): readonly [string, ...string[]] => {
  switch (report.type) {
    case 'ORDER_RECEIPT':
    case 'SPAWN_RECEIPT':
      return [report.payload.orderId, report.payload.outcome];
    case 'RUNTIME_ANNOUNCED':
      return [report.payload.runtimeId, String(now)];
    case 'AGENT_EXITED':
      return [report.payload.instanceId, report.payload.agentId];
    case 'TERMINAL_USED': {
      const { agentId, instanceId, by, use, bytes, at } = report.payload;
      return [agentId, instanceId, by, use, String(bytes), String(at)];
    }
  }
};
