import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { agentRow, CURRENT, entry, explanation, fleetRow } from '../../packages/cli/src/render/rows.fixture.ts';
import { startTerminal, type Terminal } from '../clients/terminal.ts';

const agents = Array.from({ length: 60 }, (_, i) =>
  agentRow({ agentId: `w${String(i).padStart(2, '0')}`, state: i === 0 ? 'STUCK' : 'HEALTHY' }),
);
const ANSWERS: Readonly<Record<string, object>> = {
  '/v1/agents': { agents },
  '/v1/inbox': { inbox: [], total: 3, next: null, knowledge: CURRENT },
  '/v1/story': { story: [entry('AGENT_PAUSED', {})] },
  '/v1/fleet': { fleet: fleetRow(), knowledge: CURRENT },
  '/v1/agents/w01/explain': explanation({ agent: agentRow({ agentId: 'w01', state: 'HEALTHY' }) }),
};

const openDashboard = async (port: number): Promise<Server> => {
  const server = createServer(({ url = '' }, response) => {
    const answer = ANSWERS[new URL(url, 'http://x').pathname];
    response.writeHead(answer === undefined ? 404 : 200).end(JSON.stringify(answer ?? { detail: 'no' }));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
};
const portOf = (server: Server): number => (server.address() as AddressInfo).port;
const stopDashboard = (server: Server): void => {
  server.close();
  server.closeAllConnections();
};

let dashboard: Server;
let terminal: Terminal;
beforeEach(async () => {
  dashboard = await openDashboard(0);
  const vigil = path.resolve(import.meta.dirname, '../../.cache/bundles/vigil.mjs');
  const env = {
    PATH: process.env.PATH ?? '',
    TERM: 'xterm-256color',
    VIGIL_DASHBOARD_URL: `http://127.0.0.1:${portOf(dashboard)}`,
    VIGIL_DASHBOARD_TOKEN: 'a-token-for-tests-only',
  };
  // The shell's line shows whether the view restores the terminal.
  const command = 'echo before; "$0" "$1" health --watch; echo "ended with $?"; exec cat';
  terminal = startTerminal({ command: '/bin/sh', args: ['-c', command, process.execPath, vigil], env, cwd: '/' });
});
afterEach(async () => {
  await terminal.end();
  stopDashboard(dashboard);
});

test('the watching view scrolls, finds, opens an agent, and leaves the terminal as it was', async () => {
  await terminal.shows(/^vigil {2}60 agents, 1 unhealthy, 3 in the inbox.*\n\nAGENT.*\nw00 +STUCK[\s\S]*1–\d+ of 60/);
  expect(terminal.screen()).not.toContain('before');
  terminal.type('\u001b[F');
  await terminal.shows(/w59[\s\S]*\d+–60 of 60/);
  terminal.type('/w01\r');
  await terminal.shows(/1–1 of 1 .*"w01"/);
  terminal.type('\r');
  await terminal.shows(/^vigil explain w01[\s\S]*w01 is HEALTHY/);
  terminal.type('\u001b');
  await terminal.shows(/1–1 of 1/);
  terminal.type('q');
  await terminal.shows(/before\nended with 0$/);
  expect(terminal.screen()).not.toContain('w01');
});

test('a lost dashboard is named with the time since when, and its return ends that', async () => {
  await terminal.shows(/w00 +STUCK/);
  const port = portOf(dashboard);
  stopDashboard(dashboard);
  await terminal.shows(/BLIND since[\s\S]*AWAY {2}the dashboard since[\s\S]*w00 +was STUCK/);
  dashboard = await openDashboard(port);
  await terminal.shows(/^vigil {2}60 agents[\s\S]*w00 +STUCK/);
  expect(terminal.screen()).not.toContain('BLIND');
});

test('Ctrl-C ends the view, and reaches the program that started it', async () => {
  await terminal.shows(/w00 +STUCK/);
  terminal.type('\u0003');
  expect(await terminal.exited).not.toBeNull();
  expect(terminal.screen()).not.toContain('ended with');
});
