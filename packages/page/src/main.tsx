import { render } from 'preact';
import { App } from './app.tsx';
import { browserDeps } from './live/browser.ts';
import { openLive } from './live/live.ts';

const place = document.getElementById('page');
if (place !== null) render(<App live={openLive(browserDeps())} />, place);
