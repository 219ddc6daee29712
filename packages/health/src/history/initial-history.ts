import { type History, initialHistory } from './history.ts';

const UNIDENTIFIED = {
  instanceId: null,
  taskId: null,
  runtimeId: null,
  attempt: null,
  maxAttempts: null,
  labels: {},
  eventDriven: false,
  client: null,
  parentId: null,
};

/** Every history before its first report: empty parts are the same objects. */
export const INITIAL_HISTORY: History = initialHistory(
  UNIDENTIFIED,
  { now: 0, watched: 0, stamp: 0, previous: null },
  '',
);
