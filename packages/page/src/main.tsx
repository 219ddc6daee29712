import { render } from 'preact';
import { App } from './app.tsx';
import { browserAddress, browserDeps } from './live/browser.ts';
import { openLive } from './live/live.ts';
import { openPlaces } from './live/place.ts';

const place = document.getElementById('page');
if (place !== null) render(<App live={openLive(browserDeps())} places={openPlaces(browserAddress())} />, place);
