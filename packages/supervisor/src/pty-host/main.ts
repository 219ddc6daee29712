import { chmodSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { unreachableFor } from '../process/host-user.ts';
import { identify } from '../process/proc.ts';
import { openTerminal } from '../terminal/terminal.ts';
import { type Launch, READY } from './protocol.ts';
import { PtyHost } from './pty-host.ts';

/** Owns one agent's terminal, in a session of its own, so that the agent outlives its supervisor. */
const launch = JSON.parse(await text(process.stdin)) as Launch;
process.title = `vigil-pty-host ${launch.agentId}`;
/** A user that cannot enter the folder of its work, or connect to its socket, starts nothing. */
const reached = [`${launch.cwd}/.`, ...(launch.env.VIGIL_SOCKET === undefined ? [] : [launch.env.VIGIL_SOCKET])];
const problem = launch.user === null ? null : unreachableFor(launch.user, reached);
if (problem !== null) {
  process.stdout.write(problem);
  process.exit(1);
}
const server = createServer((socket) => ptyHost.connect(socket));
const ptyHost = new PtyHost(launch, identify(process.pid), () => {
  server.close(() => process.exit(0));
  // one that reads nothing cannot keep it
  setTimeout(() => process.exit(0), 1000);
});
await new Promise<void>((resolve, reject) => {
  server.once('error', reject).listen(launch.socket, resolve);
});
chmodSync(launch.socket, 0o600);
const terminal = openTerminal(launch, launch.size, (data) => ptyHost.output(data, Date.now()));
ptyHost.setTerminal(terminal);
void terminal.exited.then((exit) => ptyHost.ended({ ...exit, at: Date.now() }));
// The agent would die with this process: an unexpected error is written down, and the terminal stays open.
process.on('uncaughtException', ({ stack }) =>
  process.stderr.write(`${new Date().toISOString()} PTY host of ${launch.agentId}: ${stack}\n`),
);
// the reader of this line may be gone by now
process.stdout.on('error', () => {}).write(READY);
flushCompileCache();
