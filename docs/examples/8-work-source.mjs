// Prints the work items of beads with the claims of botbus as JSON: for `vigil run --work-source` and `work_source`.
// `br list --json` has the items; `bus claims list --format json` the claims, of patterns such as bead://PROJECT/bd-12.
import { execFileSync } from 'node:child_process';

/** The time to live of a claim, seconds: botbus reports when a claim expires, not when it was refreshed. */
const CLAIM_TTL_S = Number(process.env.CLAIM_TTL_S ?? 3600);

const read = (command, ...args) => JSON.parse(execFileSync(command, args, { encoding: 'utf8' }));
const listed = read('br', 'list', '--json');
const { claims } = read('bus', 'claims', 'list', '--format', 'json');

/** When a claim on the item was last refreshed, milliseconds; null: no claim on it. */
const refreshedAt = (id) => {
  const times = claims
    .filter(
      ({ active, patterns }) => active && patterns.some((one) => one.startsWith('bead://') && one.endsWith(`/${id}`)),
    )
    .map(({ expires_at }) => Date.parse(expires_at) - CLAIM_TTL_S * 1000);
  return times.length === 0 ? null : Math.max(...times);
};

const items = (Array.isArray(listed) ? listed : listed.issues).map(({ id, status, updated_at, comment_count }) => ({
  ...{ id, status, updated_at, comment_count },
  claim_refreshed_at: refreshedAt(id),
}));
console.log(JSON.stringify(items));
