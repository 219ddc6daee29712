import { byName } from '@vigil/read-model/names';

/**
 * How many terminals a browser has open at once. It opens six connections to one address: one is for the stream of changes
 * that the tabs share, and one is left for questions and commands. With a fifth terminal every tab would be blind.
 */
export const MOST_TERMINALS = 4;

const COUNTING = 'vigil-terminals';
const SLOT = 'vigil-terminal/';

type Locks = Pick<LockManager, 'request' | 'query'>;

const agentOf = (name: string): string => name.slice(name.indexOf(' ') + 1);

/**
 * Takes one of the slots for terminals, which all tabs share. Returns how to give it up; the browser gives up that of a tab
 * that ends. Throws an error for people where none is free. `id`: unique.
 */
export const takeSlot = (locks: Locks, agentId: string, id: string): Promise<() => void> =>
  // Tabs count one after the other, so that two do not take the last slot.
  locks.request(COUNTING, async () => {
    const { held = [] } = await locks.query();
    const taken = held.map(({ name = '' }) => name).filter((name) => name.startsWith(SLOT));
    if (taken.length >= MOST_TERMINALS)
      throw new Error(
        `${taken.length} terminals are open in this browser, the most that it has room for: ${taken.map(agentOf).toSorted(byName).join(', ')}. Close one of them`,
      );
    return await new Promise<() => void>((resolve, reject) => {
      const hold = () => new Promise<void>((release) => resolve(release));
      locks.request(`${SLOT}${id} ${agentId}`, hold).catch(reject);
    });
  });
