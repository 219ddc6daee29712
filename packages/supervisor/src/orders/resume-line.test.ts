import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PRESETS, parseYaml } from '@vigil/policy';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { resumeLineOf } from '../exit/state-files.ts';
import { type Stage, setStage, spawn } from '../testing/stage.ts';
import { writeHandover } from './spawn.ts';

let stage: Stage;
let dir = '';
beforeEach(async () => {
  stage = await setStage();
  dir = mkdtempSync(join(tmpdir(), 'vigil-resume-'));
});
afterEach(async () => {
  await stage.close();
  rmSync(dir, { recursive: true });
});

/** The prompt of a replacement under this preset, as the gateway serves it. */
const promptUnder = async (preset: string): Promise<string> => {
  const text = readFileSync(join(PRESETS, `${preset}.yaml`), 'utf8');
  stage.gateway.policies.set(preset, parseYaml(text, preset) as object);
  const order = spawn({ taskId: 'OMN-1234', handover: 'the prompt\n' });
  return readFileSync(writeHandover(dir, order, await resumeLineOf(stage.deps, preset)), 'utf8');
};

test('under omniclaude a redispatched agent resumes its ticket’s pipeline with --skip-to implement, to the letter', async () => {
  expect(await promptUnder('omniclaude')).toBe(
    'the prompt\nExecute: Skill(skill="onex:ticket_pipeline", args="OMN-1234 --skip-to implement")\n',
  );
});

test.each(['coditect', 'botbox', 'vigil'])('under %s no pipeline is named', async (preset) => {
  expect(await promptUnder(preset)).toBe('the prompt\n');
});
