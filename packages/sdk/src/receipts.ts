import type { OrderReceiptPayload } from '@vigil/events';

/** The fields about an end, in a receipt of an order that ended no process. */
export const noEnd: Omit<
  OrderReceiptPayload,
  'orderId' | 'kind' | 'agentId' | 'instanceId' | 'runtimeId' | 'outcome' | 'why' | 'at'
> = {
  confirmed: false,
  forced: false,
  by: null,
  code: null,
  signal: null,
  claimsReleased: [],
  checkpoint: null,
  completedWork: [],
  remainingWork: [],
  forensics: null,
  lastOutput: [],
};
