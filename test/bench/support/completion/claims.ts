import { adapterNamed } from '@vigil/adapters';

/** A call of the recorded runs. `err` null: it has no result. */
export type Call = { readonly tool: string; readonly args: unknown; readonly err: boolean | null };
export type Run = {
  readonly src: string;
  readonly run_id: string;
  readonly success: boolean;
  readonly label: 'loop' | 'clean' | 'ambiguous';
  readonly calls: readonly (Call & { readonly args_h: string; readonly resn_h: string; readonly ts: number | null })[];
};

/** The sources whose only tool is a shell; their arguments are the command. */
const SHELLS: ReadonlySet<string> = new Set(['bash', 'ctf']);

const flagsOf = ({ tool, args }: Call) => {
  const [name, given] = SHELLS.has(tool) ? ['Bash', { command: args }] : [tool, args];
  const {
    mutating = false,
    checking = false,
    target = null,
  } = adapterNamed('claude-code')?.traitsOf(name, given) ?? {};
  return { mutating, checking, target };
};

/** The run with the flags that the adapter of Claude Code would send. A call without a result is still in flight. */
export const flagged = (run: Run) => ({
  ...run,
  calls: run.calls.map((call) => ({ ...call, ...flagsOf(call), ...(call.err === null ? { outcome: 'running' } : {}) })),
});

export const KINDS = ['last check failed', 'a change failed', 'last call failed', 'no check after a change'] as const;
export type Kind = (typeof KINDS)[number];

/** What contradicts the claim of a flagged run, the strongest first. */
export const kindOf = (run: Run): Kind => {
  const calls = run.calls.map((call) => ({ ...call, ...flagsOf(call) }));
  if (calls.findLast(({ checking }) => checking)?.err === true) return 'last check failed';
  const last = new Map(calls.filter(({ mutating }) => mutating).map(({ target, err }) => [target, err]));
  if ([...last.values()].includes(true)) return 'a change failed';
  return calls.at(-1)?.err === true ? 'last call failed' : 'no check after a change';
};
