import path from 'node:path';
import { databaseSettings, logSettings, probeSettings, tlsSettings, token, whole } from '@vigil/chassis';
import { linkKey } from '@vigil/chassis/decision-link';
import { z } from 'zod';

const HOSTS = 'give the host names of the dashboard, with commas between and without ports';
const HOST_NAME = /^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/;

export type Config = z.output<typeof config>;

/** Variables of the service. */
export const config = logSettings({
  ...tlsSettings,
  ...databaseSettings,
  VIGIL_DASHBOARD_HOST: z
    .string()
    .default('127.0.0.1')
    .meta({ values: 'host', description: 'Where the dashboard listens.' }),
  VIGIL_DASHBOARD_PORT: whole(0, 65535)
    .default(7420)
    .meta({ description: 'The port of the dashboard; 0 is any free port, which the log names.' }),
  VIGIL_DASHBOARD_HOSTS: z
    .string()
    .default('')
    .transform((text) =>
      text
        .toLowerCase()
        .split(',')
        .map((name) => name.trim())
        .filter(Boolean),
    )
    .pipe(z.array(z.string().regex(HOST_NAME, HOSTS)))
    .meta({
      values: 'host names, with commas between',
      description: 'Further names by which callers reach the dashboard; it refuses requests to other names.',
    }),
  VIGIL_DASHBOARD_TOKEN: token("give the admin's token, shown as `Authorization: Bearer …`").meta({
    description: 'The token of `admin`, who has every right.',
  }),
  VIGIL_LINK_KEY: linkKey.optional(),
  VIGIL_PEOPLE_FILE: z
    .string()
    .min(1)
    .optional()
    .meta({ values: 'file', description: 'Names, roles and token hashes of people and orchestrators.' }),
  VIGIL_PAGE_FOLDER: z
    .string()
    .min(1)
    .default(path.join(import.meta.dirname, '../../../.cache/bundles/page'))
    .transform((folder) => path.resolve(folder))
    .meta({
      values: 'folder',
      default: '`.cache/bundles/page` of the clone',
      description: 'The built page: `index.html` and `assets/`.',
    }),
  ...probeSettings,
});
