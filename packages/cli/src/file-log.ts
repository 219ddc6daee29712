// A module of its own, because only the pinned Node has the SQLite that it loads.
export { copyFileLog, openFileLog, transferFileLog } from '@vigil/stream';
