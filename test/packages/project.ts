/** Sources of a user's project, for its compiler. They are texts, because the packages are installed only there. */
const STRICT = {
  strict: true,
  target: 'es2022',
  noEmit: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  // Declarations of dependencies are checked as well.
  skipLibCheck: false,
};

const AGENT = `
import { BreakerOpen, type Command, connect, fromEnvironment, type Settings, type Vigil } from '@vigil/sdk';
import { hashes, type Hashes } from '@vigil/sdk/hashes';
const settings: Settings = { agentId: 'worker-1', ...fromEnvironment({}), onCommand: (command: Command) => command.kind };
const vigil: Vigil = connect(settings);
export const text: Promise<string> = vigil.call({ tool: 'Read', args: {} }, async () => 'text');
export const found: Hashes = hashes({ args: {}, failed: false, endedAt: null });
export const next = (error: unknown): number | null => (error instanceof BreakerOpen ? error.nextAttemptAt : null);
// @ts-expect-error: an agent has an id
connect({});
`;

const LIBRARIES = `
import { type Heartbeat, memoryCodec, parseHeartbeat, Topic } from '@vigil/events';
import { type AskedQuestion, askedQuestion } from '@vigil/events/request-answer';
import { type CompiledPolicy, CorrectThePolicy, loadPolicy } from '@vigil/policy';
import { VOCABULARY } from '@vigil/policy/vocabulary';
const heartbeat: Heartbeat = parseHeartbeat({});
export const bytes: Uint8Array = memoryCodec().encode({ topic: Topic.heartbeat, type: 'HEARTBEAT', payload: heartbeat });
export const policy: CompiledPolicy = loadPolicy('', 'core.yaml', VOCABULARY);
export const mistakes = (error: unknown): readonly string[] => (error instanceof CorrectThePolicy ? error.mistakes : []);
export type Question = AskedQuestion;
export const ask = askedQuestion;
// @ts-expect-error: the name of an agent is a text
export const wrong: number = heartbeat.agent_id;
`;

const compiling = (file: string, options: object): string =>
  JSON.stringify({ compilerOptions: { ...STRICT, ...options }, files: [file] });

/** Files by name. `sdk.json`: without the types of Node; `bundler.json`: as bundlers resolve modules. */
export const PROJECT: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({ name: 'users-project', private: true, type: 'module' }),
  'agent.ts': AGENT,
  'libraries.ts': LIBRARIES,
  'sdk.json': compiling('agent.ts', { module: 'nodenext', types: [] }),
  'bundler.json': compiling('agent.ts', { module: 'esnext', moduleResolution: 'bundler', types: [] }),
  'libraries.json': compiling('libraries.ts', { module: 'nodenext', types: ['node'] }),
};

export const COMPILATIONS: readonly string[] = ['sdk.json', 'bundler.json', 'libraries.json'];
