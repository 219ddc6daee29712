import path from 'node:path';
import { databaseSettings, logSettings, probeSettings, tlsSettings, token, whole } from '@vigil/chassis';
import { linkKey } from '@vigil/chassis/decision-link';
import { z } from 'zod';

const HOSTS = 'give the host names of the dashboard, with commas between and without ports';
const HOST_NAME = /^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/;

export type Config = z.output<typeof config>;

/** `VIGIL_PROBES`: where each service answers /ready; without it `doctor` leaves readiness out. */
export const config = logSettings({
  ...tlsSettings,
  ...databaseSettings,
  VIGIL_DASHBOARD_HOST: z.string().default('127.0.0.1'),
  VIGIL_DASHBOARD_PORT: whole(0, 65535).default(7420),
  /** further names by which callers reach it; a request with another name in its Host header is refused */
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
    .pipe(z.array(z.string().regex(HOST_NAME, HOSTS))),
  VIGIL_DASHBOARD_TOKEN: token("give the admin's token, shown as `Authorization: Bearer …`"),
  /** verifies the links of decisions; alerting has the same. Without it there are none */
  VIGIL_LINK_KEY: linkKey.optional(),
  /** names, roles and token hashes of people and orchestrators */
  VIGIL_PEOPLE_FILE: z.string().min(1).optional(),
  /** of the built page: index.html and assets/ */
  VIGIL_PAGE_FOLDER: z
    .string()
    .min(1)
    .default(path.join(import.meta.dirname, '../../../.cache/bundles/page'))
    .transform((folder) => path.resolve(folder)),
  ...probeSettings,
});
