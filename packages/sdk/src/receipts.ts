import type { OrderReceiptPayload } from '@vigil/events';

/** What a receipt tells of an end, where no process was ended. */
export const noEnd: Omit<
  OrderReceiptPayload,
  'orderId' | 'kind' | 'agentId' | 'instanceId' | 'runtimeId' | 'outcome' | 'why' | 'at'
> = {
  confirmed: false,
  forced: false,
  code: null,
  signal: null,
  claimsReleased: [],
  checkpoint: null,
  completedWork: [],
  remainingWork: [],
  forensics: null,
  lastOutput: [],
};
