import { addressOf, type Place, placeOf } from '../model/places.ts';

/** The address of the page, as a browser has it. `hash`: what follows the path, with its `#`; `onMove`: called after each change */
export type Address = {
  readonly hash: () => string;
  readonly setHash: (hash: string) => void;
  readonly onMove: (moved: () => void) => void;
};

/** Where the page is. */
export type Places = {
  readonly current: () => Place;
  /** Calls with the present place at once, and with each later one, until the returned function is called. */
  readonly watch: (listener: (place: Place) => void) => () => void;
  /** Moves the page. Its watchers have the place when this returns, so that the next key finds the view. */
  readonly go: (place: Place) => void;
  /** Opens the fleet, whose search field is to take the focus as soon as it is drawn. */
  readonly find: () => void;
  /** Whether the search field is to take the focus: true once for each `find`, and not after another move. */
  readonly takesFocus: () => boolean;
};

const FLEET: Place = { view: 'fleet', id: null };

const isSame = (one: Place, other: Place): boolean => one.view === other.view && one.id === other.id;

/** Follows the address from now on, also before anything is drawn. */
export const openPlaces = (address: Address): Places => {
  const listeners = new Set<(place: Place) => void>();
  let place = placeOf(address.hash());
  let isFinding = false;
  const move = (): void => {
    const next = placeOf(address.hash());
    if (!isSame(next, FLEET)) isFinding = false;
    if (isSame(next, place)) return;
    place = next;
    for (const listener of [...listeners]) listener(place);
  };
  const go = ({ view, id }: Place): void => {
    address.setHash(addressOf(view, id));
    move();
  };
  address.onMove(move);
  return {
    ...{ current: () => place, go },
    watch: (listener) => {
      listeners.add(listener);
      listener(place);
      return () => listeners.delete(listener);
    },
    find: () => {
      isFinding = true;
      go(FLEET);
    },
    takesFocus: () => {
      const taken = isFinding;
      isFinding = false;
      return taken;
    },
  };
};
