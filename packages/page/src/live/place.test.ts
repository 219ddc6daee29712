import { expect, test } from 'vitest';
import type { Place } from '../model/places.ts';
import { openPlaces } from './place.ts';

/** A browser at this address. It reports a move only when the test lets it: `report`. */
const browser = (hash: string) => {
  const at = { hash };
  let report = (): void => {};
  const places = openPlaces({
    hash: () => at.hash,
    setHash: (next) => {
      at.hash = next;
    },
    onMove: (moved) => {
      report = moved;
    },
  });
  return { at, places, report: () => report() };
};

const seenBy = (places: ReturnType<typeof openPlaces>) => {
  const seen: Place[] = [];
  const stop = places.watch((place) => seen.push(place));
  return { seen, stop };
};

test('a move between the first drawing and the watching is not lost', () => {
  const { at, places, report } = browser('#/inbox');
  expect(places.current()).toEqual({ view: 'inbox', id: null, query: '' });
  at.hash = '#/fleet/worker-1';
  report();
  expect(seenBy(places).seen).toEqual([{ view: 'fleet', id: 'worker-1', query: '' }]);
});

test('each move is reported once, also if the page makes it and the browser reports it afterwards', () => {
  const { at, places, report } = browser('#/inbox');
  const { seen, stop } = seenBy(places);
  places.go({ view: 'cases', id: null, query: '' });
  expect(at.hash).toBe('#/cases');
  report();
  expect(seen).toEqual([
    { view: 'inbox', id: null, query: '' },
    { view: 'cases', id: null, query: '' },
  ]);
  stop();
  places.go({ view: 'tasks', id: null, query: '' });
  expect(seen).toHaveLength(2);
});

test('the search field takes the focus once after it was asked for, however late it is drawn', () => {
  const { at, places, report } = browser('#/inbox');
  expect(places.takesFocus('field')).toBe(false);
  places.openFleet('field');
  expect(places.current()).toEqual({ view: 'fleet', id: null, query: '' });
  report();
  expect(at.hash).toBe('#/fleet');
  expect(places.takesFocus('cells')).toBe(false);
  expect(places.takesFocus('field')).toBe(true);
  expect(places.takesFocus('field')).toBe(false);
});

test('another part of the same place is a move', () => {
  const { at, places } = browser('#/fleet/worker-1');
  const { seen } = seenBy(places);
  places.go({ view: 'fleet', id: 'worker-1', query: 'at=5' });
  expect(at.hash).toBe('#/fleet/worker-1?at=5');
  expect(seen.at(-1)).toEqual({ view: 'fleet', id: 'worker-1', query: 'at=5' });
});

test('a person who goes elsewhere before the search field is drawn does not find it focused later', () => {
  const { places } = browser('#/inbox');
  places.openFleet('field');
  places.go({ view: 'alerts', id: null, query: '' });
  places.go({ view: 'fleet', id: null, query: '' });
  expect(places.takesFocus('field')).toBe(false);
});
