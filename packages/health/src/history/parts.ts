import type { History } from './history.ts';

// One function a part: a look-up by name would cost more than the signal that it spares.
export const PARTS = {
  blocked: ({ blocked }: History) => blocked,
  breakers: ({ breakers }: History) => breakers,
  checkpoint: ({ checkpoint }: History) => checkpoint,
  context: ({ context }: History) => context,
  end: ({ end }: History) => end,
  errors: ({ errors }: History) => errors,
  limits: ({ limits }: History) => limits,
  matches: ({ matches }: History) => matches,
  outcomes: ({ outcomes }: History) => outcomes,
  output: ({ output }: History) => output,
  rateLimit: ({ rateLimit }: History) => rateLimit,
  runs: ({ runs }: History) => runs,
  steps: ({ steps }: History) => steps,
  targets: ({ targets }: History) => targets,
  turn: ({ turn }: History) => turn,
  notStarted: ({ notStarted }: History) => notStarted,
  callDiversity: ({ callDiversity }: History) => callDiversity,
  work: ({ work }: History) => work,
} as const;

/** The parts of a history that signals may fire by alone. */
export type Part = keyof typeof PARTS;
