import { whole } from '@vigil/chassis';
import { HISTORY_DAYS } from '@vigil/projection';

export const historySettings = {
  VIGIL_HISTORY_DAYS: whole(HISTORY_DAYS.least, HISTORY_DAYS.most)
    .default(HISTORY_DAYS.usual)
    .meta({ unit: 'days', description: 'The history that is kept before the newest time of the log.' }),
};
