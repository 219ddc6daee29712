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

/** `browser_wait_for`, `waitUntilReady`, `sleep`; not `get_sleep_data` */
const WAITING_TOOL = /(?:^|_)wait_(?:for|until)(?:_|$)|^wait(?:_|$)|(?:^|_)(?:wait|sleep)$/;

/** Whether a tool of any server waits for something, by the words of its name. */
export const isWaitingTool = (tool: string): boolean =>
  WAITING_TOOL.test(
    tool
      .replace(/^.*(?:__|[./:])/, '')
      .replace(/([a-z])([A-Z])/g, '$1_$2')
      .replaceAll(/[^A-Za-z]+/g, '_')
      .toLowerCase(),
  );
