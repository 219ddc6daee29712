import { databaseSettings, kafkaSettings } from '@vigil/chassis';
import { z } from 'zod';

export const config = z.object({ ...kafkaSettings, ...databaseSettings });
