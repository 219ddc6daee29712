import { expect, it } from 'vitest';
import { givenServers } from './servers.ts';

const all = { KAFKA_BROKERS: 'a:1', SCHEMA_REGISTRY_URL: 'http://b', DATABASE_URL: 'postgres://c' };

it('servers whose three addresses are given are used', () => expect(givenServers({ ...all, HOME: '/' })).toEqual(all));

it('without addresses no servers are given', () => expect(givenServers({ HOME: '/' })).toBeNull());

it('an empty address is none', () => expect(givenServers({ KAFKA_BROKERS: '' })).toBeNull());

it('some addresses without the others are refused, each by its name', () => {
  const { DATABASE_URL: _, ...two } = all;
  expect(() => givenServers(two)).toThrow('KAFKA_BROKERS and SCHEMA_REGISTRY_URL given without DATABASE_URL');
});
