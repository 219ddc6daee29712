import { bornAt, type History } from './history.ts';

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
export const AT_BIRTH: History = bornAt(NOBODY, { now: 0, watched: 0, stamp: 0, previous: null }, '');
