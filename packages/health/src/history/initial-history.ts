import { type History, initialHistory } from './history.ts';

const NOBODY = {
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

/** What every history is until something is reported: parts of which nothing has been are the same objects. */
export const INITIAL_HISTORY: History = initialHistory(NOBODY, { now: 0, watched: 0, stamp: 0, previous: null }, '');
