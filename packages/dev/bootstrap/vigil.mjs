#!/usr/bin/env node
// `npx vigil …` from the clone, on the machine's own Node from 18 on.
const since = process.hrtime.bigint();
const words = process.argv.slice(2);

// A hook runs at every step of a session. It runs here, without the start of another Node, and never disturbs the session.
if (words[0] === 'hook' && (words.length === 1 || words[1] === '--client'))
  await import('../../../.cache/bundles/modules/hook.mjs').then(
    ({ main }) => main(words[2] ?? 'claude-code', since),
    () => process.exit(0),
  );
else await import('./launch.mjs');
