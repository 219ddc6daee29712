import { createServer, type Server } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { Refusal } from '../refusal.ts';
import { movedPorts, START_SYSTEM_PORTS } from '../system/services.ts';
import { cloneIn, holderOf, listenersIn } from './port-holder.ts';
import { freePorts, orPortInUse, portOffsetOf, requireAllFree, requireFree } from './ports.ts';
import { START_PORTS, startPortsOf } from './servers.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

const listening = async (port: number): Promise<void> => {
  const server = createServer();
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
};

const useOf = (port: number) => ({ port, what: 'Kafka', instead: 'servers of your own' });

test('free ports are all different', async () => expect(new Set(await freePorts(8)).size).toBe(8));

test('a port in use is refused with the process that uses it and what to do; a free one is accepted', async () => {
  const [port = 0] = await freePorts(1);
  await expect(requireFree(useOf(port))).resolves.toBeUndefined();
  await listening(port);
  const refusal = await requireAllFree([useOf(port)]).catch((error: Error) => error.message);
  expect(refusal).toContain(`port ${port}, meant for Kafka, is in use by process ${process.pid} (`);
  expect(refusal).toContain('VIGIL_PORT_OFFSET=100');
  expect(holderOf(port)?.pid).toBe(process.pid);
});

test('the sockets that listen on a port are read from the table of the kernel', () => {
  const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:4A95 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1111 1 0000 100
   1: 0100007F:4A95 0100007F:9999 01 00000000:00000000 00:00000000 00000000     0        0 2222 1 0000 100
   2: 0100007F:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 3333 1 0000 100`;
  expect(listenersIn(table, 19093)).toEqual(['1111']);
  expect(listenersIn(table, 443)).toEqual([]);
});

test('a process of another clone of Vigil is named with its folder', () => {
  expect(cloneIn('/usr/lib/postgres -D /home/ada/one/.vigil/postgres -p 15432')).toBe('/home/ada/one');
  expect(cloneIn('node /home/ada/two/.cache/bundles/gateway.mjs')).toBe('/home/ada/two');
  expect(cloneIn('java -cp /home/ada/m2/kafka.jar kafka.Kafka /home/ada/three/.vigil/kafka/server.properties')).toBe(
    '/home/ada/three',
  );
  expect(cloneIn('nginx: master process')).toBeNull();
});

test('a start that fails because a port was taken in the meantime fails with that reason, after its servers are ended', async () => {
  const [port = 0] = await freePorts(1);
  const ended: string[] = [];
  const end = async () => void ended.push('ended');
  const failed = () => Promise.reject(new Refusal('postgres ended while it started (exit code 1)'));
  await expect(orPortInUse(failed(), [useOf(port)], end)).rejects.toThrow('ended while it started');
  await listening(port);
  await expect(orPortInUse(failed(), [useOf(port)], end)).rejects.toThrow(`port ${port}, meant for Kafka, is in use`);
  expect(ended).toEqual(['ended', 'ended']);
});

test('an offset moves every port of a start, and another value is refused', () => {
  expect(startPortsOf({})).toEqual(START_PORTS);
  const env = { VIGIL_PORT_OFFSET: '100' };
  const { gateway, dashboard, probes } = movedPorts(START_SYSTEM_PORTS, portOffsetOf(env));
  const moved = [...Object.values(startPortsOf(env)), gateway, dashboard, ...probes];
  const usual = [...Object.values(START_PORTS), 7410, 7420, ...START_SYSTEM_PORTS.probes];
  expect(moved).toEqual(usual.map((port) => port + 100));
  expect(new Set([...moved, ...usual]).size).toBe(2 * usual.length);
  for (const text of ['x', '-1', '1.5', '40001'])
    expect(() => portOffsetOf({ VIGIL_PORT_OFFSET: text })).toThrow('give a whole number up to 40000');
});
