import { SERVICES, type ServiceName, type System } from '@vigil/dev';
import { memoryOf, treeOf } from './memory-of-tree.ts';

/** `lags`: the records that each service has not read, of all its partitions. `megabytes`: of servers and services. */
export type Look = { readonly lags: ReadonlyMap<ServiceName, number>; readonly megabytes: number };

/** Not a number while the service does not answer. */
const lagOf = async ({ ports }: System, name: ServiceName): Promise<number> => {
  const port = ports.probes[SERVICES.indexOf(name)];
  const answer = fetch(`http://127.0.0.1:${port}/metrics`).then((response) => response.text());
  const text = await answer.catch(() => '');
  if (text === '') return Number.NaN;
  return [...text.matchAll(/^vigil_partition_lag\{[^}]*\} (\S+)$/gm)].reduce((sum, [, lag]) => sum + Number(lag), 0);
};

export const look = async (system: System): Promise<Look> => {
  const lags = await Promise.all(SERVICES.map(async (name) => [name, await lagOf(system, name)] as const));
  return { lags: new Map(lags), megabytes: memoryOf(treeOf(process.pid).filter((pid) => pid !== process.pid)) };
};

/** The sum of the lags; not a number while a service does not answer. */
export const total = ({ lags }: Look): number => [...lags.values()].reduce((sum, lag) => sum + lag, 0);
