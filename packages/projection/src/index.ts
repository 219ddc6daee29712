export { HISTORY_DAYS, keepHistory } from './history.ts';
export { type ProjectedTopic, project, reads } from './project.ts';
export { storeProjected } from './projected.ts';
export { type Progress, planRebuild, rebuild } from './rebuild.ts';
export { rowsIn } from './rows.ts';
