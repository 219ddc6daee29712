import type { HostDeps } from '../deps.ts';
import { stoppedBy } from '../exit/stop-marker.ts';
import type { DeedOf } from '../pty-host/protocol.ts';
import type { Supervised } from './agent-instance.ts';

const ctrlC = 0x03;
/** How long an agent that a person ends has to leave by itself, milliseconds. */
const graceMs = 5000;

/** What somebody at an attached terminal does, done on their behalf: who came and went is on record, what was typed is not. */
export const attend = (life: Supervised, world: Pick<HostDeps, 'log'>, deed: DeedOf): void => {
  const { agentId, instanceId } = life.spec;
  const note = (message: string) => world.log(message, { agentId, instanceId, who: deed.who });
  switch (deed.does) {
    case 'opens':
      note('somebody may type at an agent’s terminal');
      return;
    case 'leaves':
      note('somebody has left an agent’s terminal');
      return;
    case 'types': {
      const keys = Buffer.from(deed.input, 'base64');
      if (keys.includes(ctrlC)) life.interrupted(`Ctrl-C by ${deed.who} at its terminal`);
      life.terminal.write(keys);
      return;
    }
    case 'resizes':
      life.resize(deed.size);
      return;
    case 'ends':
      note('somebody ends an agent');
      void life.end(stoppedBy(deed.who), deed.graceMs ?? graceMs);
  }
};
