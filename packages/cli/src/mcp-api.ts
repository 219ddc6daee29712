import { type Api, ApiRefusal } from '@vigil/mcp';
import type { WrittenCommand } from '@vigil/read-model';
import type { Client } from './client.ts';
import { CannotProceed, Refusal } from './errors.ts';

/** A refusal, and a dashboard that is away, are for the model to read. */
const refused = async <T>(answer: Promise<T>): Promise<T> => {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Refusal || error instanceof CannotProceed) throw new ApiRefusal(error.message);
    throw error;
  }
};

/** A read that gets no answer shows within five seconds that Vigil is blind. */
export const apiOf = (reads: Pick<Client, 'get'>, writes: Pick<Client, 'post'>): Api => ({
  get: (path, query) => refused(reads.get(path, query)),
  command: async (command) => (await refused(writes.post<WrittenCommand>('/v1/commands', command))).eventId,
});
