import { connect, fromEnvironment } from '@vigil/sdk';

/** An agent that uses the SDK over the socket of its supervisor: it saves a checkpoint when it is asked to, and stops when it is asked to. */
const vigil = connect({ agentId: 'worker-1', ...fromEnvironment() });
vigil.onCommand(async (command) => {
  process.stdout.write(`${JSON.stringify(command)}\n`);
  if (command.kind === 'checkpoint')
    await vigil.checkpoint({ id: 'on-request', completed: ['one'], remaining: ['two'] });
  if (command.kind === 'shutdown') await vigil.close().then(() => process.exit(0));
});
vigil.report({ phase: 'work' });
setInterval(() => {}, 1000);
