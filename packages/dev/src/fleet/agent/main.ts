import { randomUUID } from 'node:crypto';
import { behaviours } from './behaviours.ts';
import { connectVigil } from './client.ts';
import { print } from './work.ts';

const { VIGIL_SOCKET, VIGIL_TASK_ID = 'none', VIGIL_ATTEMPT = '0', VIGIL_CHECKPOINT } = process.env;
const [name = '', folder = 'checkpoints'] = process.argv.slice(2);

const behaviour = behaviours[name];
if (behaviour === undefined) throw new Error(`no behaviour ${name}; there are ${Object.keys(behaviours).join(', ')}`);

const nudge = Promise.withResolvers<string>();
const vigil = connectVigil(VIGIL_SOCKET, (message) => {
  if (message.nudge !== undefined) nudge.resolve(message.nudge);
  if (message.problems !== undefined) print(`the supervisor did not understand: ${message.problems.join('; ')}`);
});
vigil.report({ activity: 'starting', phase: 'start' });
const own = { task: VIGIL_TASK_ID, attempt: Number(VIGIL_ATTEMPT), folder, from: VIGIL_CHECKPOINT };
const desk = { vigil, ...own, now: Date.now, newId: randomUUID };
await behaviour(desk, nudge.promise);
await vigil.close();
