import { running, runs } from './commands.ts';

const WAITING_COMMAND = running([
  // pauses
  String.raw`(?:sleep|Start-Sleep|watch|inotifywait|wait-on|wait-for-it(?:\.sh)?)\s`,
  String.raw`python[\d.]*\s+-c\s[^\n]*\btime\.sleep\(`,
  // waits for the end of work elsewhere
  String.raw`kubectl\s+(?:-\S+\s+\S+\s+)*(?:wait|rollout\s+status|(?:get|logs)\s[^;&|\n]*(?:\s-f|\s-w|\s--follow|\s--watch(?!=false)))\b`,
  String.raw`gh\s+(?:run\s+watch|pr\s+checks\s[^;&|\n]*--watch)\b`,
  String.raw`(?:docker|podman)\s+(?:wait|(?:compose\s+)?logs\s[^;&|\n]*(?:-f|--follow))\b`,
  String.raw`aws\s+[\w-]+\s+wait\b`,
  // follows a log
  String.raw`tail\s[^;&|\n]*(?:(?<=\s)-\w*[fF]\b|--follow)`,
  String.raw`journalctl\s[^;&|\n]*(?:(?<=\s)-\w*f\b|--follow)`,
]);

/** Whether a shell command waits for something, so that it is repeated on purpose. */
export const isWaitingCommand = (command: unknown): boolean => runs(command, WAITING_COMMAND);
