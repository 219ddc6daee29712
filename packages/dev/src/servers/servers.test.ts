import { expect, it } from 'vitest';
import { givenServers } from './servers.ts';

const all = { KAFKA_BROKERS: 'a:1', SCHEMA_REGISTRY_URL: 'http://b', DATABASE_URL: 'postgres://c' };

it('servers with three given addresses are used, with three replicas of a topic by default', () => {
  const usual = { VIGIL_PARTITIONS: '4', VIGIL_REPLICAS: '3' };
  expect(givenServers({ ...all, HOME: '/' })).toEqual({ ...all, ...usual });
  const set = { VIGIL_PARTITIONS: '8', VIGIL_REPLICAS: '1' };
  expect(givenServers({ ...all, ...set })).toEqual({ ...all, ...set });
  expect(() => givenServers({ ...all, VIGIL_REPLICAS: 'x' })).toThrow('VIGIL_REPLICAS is "x"');
});

it('without addresses no servers are given', () => expect(givenServers({ HOME: '/' })).toBeNull());

it('an empty address counts as missing', () => expect(givenServers({ KAFKA_BROKERS: '' })).toBeNull());

it('an incomplete set of addresses is refused, with the names of the missing ones', () => {
  const { DATABASE_URL: _, ...two } = all;
  expect(() => givenServers(two)).toThrow('KAFKA_BROKERS and SCHEMA_REGISTRY_URL given without DATABASE_URL');
});
