// Of its own, because only the pinned Node has the SQLite that it loads.
export { openFileLog } from '@vigil/stream';
