import { planAcls } from '@vigil/stream';
import { expect, test } from 'vitest';
import { tailed } from './tail.ts';

test('the access control list lets the gateway read the topics that it follows, and no other', () => {
  const readable = planAcls().filter(
    ({ principal, operation, resource }) => principal === 'gateway' && operation === 'read' && resource === 'topic',
  );
  expect(readable.map(({ name }) => name).toSorted()).toEqual([...tailed].toSorted());
});
