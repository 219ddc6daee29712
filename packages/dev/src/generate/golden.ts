import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { catalogue, type HealthEvent, memoryCodec, topicNames } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { canonical } from './canonical.ts';

/**
 * Golden encodings: for every schema that ever was, the bytes of its example. A new fingerprint adds a file; no file is
 * ever rewritten, so a test can decode for ever all that was ever written.
 */
export const goldenFiles = (root: string): ReadonlyMap<string, string> => {
  const codec = memoryCodec();
  const files = topicNames.flatMap((topic) =>
    catalogue[topic].events.map(({ type, file }): [string, string] => {
      const schema: unknown = JSON.parse(readFileSync(path.join(root, 'schemas', file), 'utf8'));
      const fingerprint = createHash('sha256').update(canonical(schema)).digest('hex').slice(0, 12);
      const name = `packages/events/golden/${file.replace(/\.avsc$/, '')}.${fingerprint}.json`;
      if (existsSync(path.join(root, name))) return [name, readFileSync(path.join(root, name), 'utf8')];
      const event = example(topic, type as HealthEvent['type']) as HealthEvent;
      const avro = codec.encode(event).subarray(5).toString('base64');
      return [name, `${JSON.stringify({ topic, type, schema, avro })}\n`];
    }),
  );
  return new Map(files);
};
