// node 8-mark-blocked.mjs ROUTE WHAT TASK: marks the bead of a blocked task as blocked. Other alerts change nothing.
import { execFileSync } from 'node:child_process';

const [route, what, task] = process.argv.slice(2);
if (route === 'task_blocked' && what === 'raised')
  execFileSync('br', ['update', task, '--status', 'blocked'], { stdio: 'inherit' });
