import { expect, test } from 'vitest';
import { VIEW_LIMIT_MS } from '../../packages/cli/src/client.ts';
import { EVERY_MS } from '../../packages/cli/src/watch/seen.ts';
import { KNOWLEDGE_MS, ANSWER_MS as PAGE_ANSWER_MS } from '../../packages/page/src/model/knowledge.ts';
import { STORE_MS } from '../../packages/projection/src/projected.ts';
import {
  STILL_BEFORE_CONNECTING_MS,
  STILL_MS,
  STILL_WITHOUT_BROKER_MS,
} from '../../services/dashboard/src/own-health/knowledge.ts';
import { ANSWER_MS, PARTS_EVERY_MS, ROWS_EVERY_MS } from '../../services/dashboard/src/own-health/look-out.ts';
import { PATIENCE_MS } from '../../services/dashboard/src/signals.ts';

const PROMISED_MS = 5000;

/** From the moment at which a part stands still until the dashboard counts it as away, at most, milliseconds. */
const KNOWN_MS = {
  'a service or the registry': PARTS_EVERY_MS + ANSWER_MS,
  'the broker': Math.max(PARTS_EVERY_MS + ANSWER_MS, STORE_MS + ROWS_EVERY_MS + STILL_WITHOUT_BROKER_MS),
  'the clock of the log': STORE_MS + ROWS_EVERY_MS + STILL_MS,
  Postgres: ROWS_EVERY_MS + ANSWER_MS,
  'Postgres for new connections': STILL_BEFORE_CONNECTING_MS + ROWS_EVERY_MS + ANSWER_MS,
} as const;
/** From then on until a view shows it. One that is asked once shows it at once. */
const SHOWN_MS = {
  'the page': KNOWLEDGE_MS,
  '`vigil health --watch`': EVERY_MS,
  '`vigil health`, MCP and the API': 0,
} as const;

const ways = Object.entries(KNOWN_MS).flatMap(([part, knownMs]) =>
  Object.entries(SHOWN_MS).map(([view, shownMs]) => [view, part, knownMs + shownMs] as const),
);
/** While the dashboard itself stands still, each view has a limit of its own for its answer. */
const dashboard = [
  ['the page', 'the dashboard', KNOWLEDGE_MS + PAGE_ANSWER_MS],
  ['`vigil health --watch`', 'the dashboard', EVERY_MS + VIEW_LIMIT_MS],
  ['`vigil health`', 'the dashboard', VIEW_LIMIT_MS],
] as const;
/** The watch of an opened agent waits for the figures, which need the broker. They are not asked for once it is away. */
const opened = [['`vigil health worker-1 --watch`', 'the broker', PATIENCE_MS + EVERY_MS]] as const;

// A measured time would depend on the machine: `npm run bench blindness` has it.
test.each([...ways, ...dashboard, ...opened])(
  '%s shows within five seconds that %s is away or stands still, by the limits that are set',
  (_view, _part, ms) => {
    expect(ms).toBeLessThan(PROMISED_MS);
  },
);
