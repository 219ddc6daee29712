// Uses the installed @vigil/events and @vigil/policy in plain JavaScript.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { memoryCodec, parseHeartbeat, topicNames } from '@vigil/events';
import { loadPolicy, PRESETS, policySchema, presetNames } from '@vigil/policy';
import { VOCABULARY } from '@vigil/policy/vocabulary';

const least = { agent_id: 'worker-1', timestamp: 1, phase: 'build', error_count: 0, progress_indicator: '1' };
const topic = 'onex.cmd.heartbeat-ingest.heartbeat.v1';
const codec = memoryCodec();
const bytes = codec.encode({ topic, type: 'HEARTBEAT', payload: parseHeartbeat(least) });
assert.equal(codec.decode(topic, bytes).payload.agent_id, 'worker-1');
assert.ok(topicNames.includes(topic));

assert.ok(presetNames().includes('vigil'));
for (const name of presetNames()) {
  const file = path.join(PRESETS, `${name}.yaml`);
  assert.equal(loadPolicy(readFileSync(file, 'utf8'), file, VOCABULARY).name, name);
}
assert.throws(() => loadPolicy('name: x\nsignals: { no_such: {} }', 'x.yaml', VOCABULARY), /no_such/);
const schema = JSON.parse(
  readFileSync(createRequire(import.meta.url).resolve('@vigil/policy/policy.schema.json'), 'utf8'),
);
assert.equal(schema.title, policySchema(VOCABULARY).title);
console.log(`events and policy run on Node ${process.versions.node}`);
