import { whole } from '@vigil/chassis';

/** Of the projector and of a rebuild. */
export const historySettings = {
  /** days of history that are kept before the newest time of the log */
  VIGIL_HISTORY_DAYS: whole(1, 3650).default(30),
};
