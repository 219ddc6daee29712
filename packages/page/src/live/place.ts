import { hashOf, type Place, placeOf } from '../model/places.ts';

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
  /** Opens the fleet. This part of it is to take the focus as soon as it is drawn. */
  readonly openFleet: (part: FleetPart) => void;
  /** Whether this part is to take the focus: true once for each `openFleet`, and not after another move. */
  readonly takesFocus: (part: FleetPart) => boolean;
};

export type FleetPart = 'field' | 'cells';

const FLEET: Place = { view: 'fleet', id: null, query: '' };

const isSame = (one: Place, other: Place): boolean =>
  one.view === other.view && one.id === other.id && one.query === other.query;

/** Follows the address from now on, also before anything is drawn. */
export const openPlaces = (address: Address): Places => {
  const listeners = new Set<(place: Place) => void>();
  let place = placeOf(address.hash());
  let focused: FleetPart | null = null;
  const move = (): void => {
    const next = placeOf(address.hash());
    if (!isSame(next, FLEET)) focused = null;
    if (isSame(next, place)) return;
    place = next;
    for (const listener of [...listeners]) listener(place);
  };
  const go = (next: Place): void => {
    address.setHash(hashOf(next));
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
    openFleet: (part) => {
      focused = part;
      go(FLEET);
    },
    takesFocus: (part) => {
      if (focused !== part) return false;
      focused = null;
      return true;
    },
  };
};
