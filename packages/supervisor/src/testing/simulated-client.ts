import { fileURLToPath } from 'node:url';
import { asPaste } from '@vigil/adapters';
import type { AgentDeps } from '../deps.ts';

export const simulatedClient = fileURLToPath(new URL('./simulated-client.fixture.ts', import.meta.url));

/** Of a client that prints no events. */
export const noStream: AgentDeps['clients'][number]['stream'] = {
  isOf: () => false,
  initial: null,
  read: (state) => ({ state, events: [], sessionId: null }),
};

/** The adapter of the simulated client, as far as orders need one. */
export const simulated: AgentDeps['clients'][number] = {
  name: 'simulated',
  invocation: ({ args }) =>
    args.some((arg) => arg.includes(simulatedClient))
      ? { headless: true, streamsEvents: false, printsProgress: true }
      : null,
  screen: () => ({ kind: 'unknown' }),
  typed: asPaste(/^$/),
  stream: noStream,
  interrupt: () => ({ kind: 'signal', signal: 'SIGINT' }),
  resume: (_line, sessionId, text) => ({
    command: process.execPath,
    args: [simulatedClient, '--resume', sessionId, '--', text],
  }),
};
