import type { HostDeps } from '../deps.ts';
import { stoppedBy } from '../exit/stop-marker.ts';
import type { ViewerAction } from '../pty-host/protocol.ts';
import type { Supervised } from './agent-instance.ts';

const ctrlC = 0x03;
/** How long an agent that a person ends has to leave by itself, milliseconds. */
const graceMs = 5000;

/** Carries out what a person at an attached terminal does. The log records who came and left, not what was typed. */
export const performViewerAction = (instance: Supervised, deps: Pick<HostDeps, 'log'>, action: ViewerAction): void => {
  const { agentId, instanceId } = instance.spec;
  const note = (message: string) => deps.log(message, { agentId, instanceId, who: action.who });
  switch (action.kind) {
    case 'opens':
      note('a viewer may type at an agent’s terminal');
      return;
    case 'leaves':
      note('a viewer has left an agent’s terminal');
      return;
    case 'types': {
      const keys = Buffer.from(action.input, 'base64');
      if (keys.includes(ctrlC)) instance.interrupted(`Ctrl-C by ${action.who} at its terminal`);
      instance.terminal.write(keys);
      return;
    }
    case 'resizes':
      instance.resize(action.size);
      return;
    case 'ends':
      note('a viewer ends an agent');
      void instance.end(stoppedBy(action.who), action.graceMs ?? graceMs);
  }
};
