import { once } from 'node:events';
import { connect } from 'node:net';
import type { PartFound } from '@vigil/read-model';
import type { Environment } from './config.ts';

const LIMIT_MS = 2000;

/** A part of Vigil, and how to find out whether it answers. */
type Part = { readonly service: string; readonly ask: () => Promise<void> };

const reasonOf = (error: unknown): string => {
  const { code, message, cause } = error as { code?: string; message: string; cause?: { code?: string } };
  return code ?? cause?.code ?? message;
};

/** Any answer of a registry shows that it runs; a service that is not ready answers with its reason. */
const http = (url: string, isWell: (status: number) => boolean) => async (): Promise<void> => {
  const answer = await fetch(url, { signal: AbortSignal.timeout(LIMIT_MS) });
  if (!isWell(answer.status)) throw new Error(`status ${answer.status}: ${(await answer.text()).slice(0, 200)}`);
};

/** It accepts a connection. */
const tcp = (address: string) => async (): Promise<void> => {
  const at = address.lastIndexOf(':');
  const socket = connect(Number(address.slice(at + 1)), address.slice(0, at));
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(LIMIT_MS) });
  } finally {
    socket.destroy();
  }
};

const listed = (text: string | undefined): readonly string[] => (text ?? '').split(',').filter(Boolean);

const partsIn = (env: Environment): readonly Part[] => {
  const { VIGIL_PROBES: probes, SCHEMA_REGISTRY_URL: registry, KAFKA_BROKERS: brokers, VIGIL_POSTGRES: postgres } = env;
  const services = listed(probes).map((pair): Part => {
    const [service = '', url = ''] = pair.split(/=(.*)/s);
    return { service, ask: http(new URL('/ready', url).href, (status) => status === 200) };
  });
  return [
    ...services,
    ...listed(brokers).map((address): Part => ({ service: `broker ${address}`, ask: tcp(address) })),
    ...(registry ? [{ service: 'registry', ask: http(`${registry}/subjects`, (status) => status < 500) }] : []),
    ...(postgres ? [{ service: 'postgres', ask: tcp(postgres) }] : []),
  ];
};

const found = async ({ service, ask }: Part): Promise<PartFound> => {
  try {
    await ask();
    return { service, ready: true, detail: '', since: null };
  } catch (error) {
    return { service, ready: false, detail: `does not answer (${reasonOf(error)}): is it running?`, since: null };
  }
};

/** Asks each part at the address that the environment names, without the dashboard. */
export const askParts = (env: Environment): Promise<readonly PartFound[]> => Promise.all(partsIn(env).map(found));

/** What can be done where parts do not answer. */
export const REMEDY =
  'npm start, compose and Kubernetes start an ended part again. Its log has the reason: .vigil/logs under npm start.';
