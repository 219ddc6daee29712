import path from 'node:path';
import { freshBuild, root } from './bundles.mjs';
import { run } from './command.mjs';
import { onceForAll } from './lock.mjs';

/** The bundles as the sources are: built again when a source has changed. */
export const prepareBundles = ({ node, env }) =>
  onceForAll(
    'bundles',
    () => freshBuild(null) !== null,
    () => run('bundling Vigil', node, [path.join(root, 'packages/dev/bootstrap/build.mjs'), node], { cwd: root, env }),
  );
