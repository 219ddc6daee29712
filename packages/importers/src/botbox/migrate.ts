import { CorrectThePolicy } from '@vigil/policy';
import { findNodeAtLocation, type Node, parseTree } from 'jsonc-parser';
import { misplaced, parsed } from './settings.ts';

/** What the proposal writes into `.botbox.json`, in its order. */
export const BOTBOX_DEFAULTS = {
  enabled: true,
  idle_timeout_minutes: 15,
  completion_timeout_minutes: 10,
  rate_limit_backoff_seconds: 60,
  repeated_error_threshold: 5,
  auto_kill_on_idle: true,
  auto_kill_on_repeated_error: false,
  alert_channel: 'ops',
} as const;

/**
 * A `.botbox.json` with the defaults for `agents.health`; an existing section stays unchanged. No other character
 * changes.
 */
export function migrateBotbox(text: string, source: string = '.botbox.json'): string {
  const mistakes: string[] = [];
  const settings = parsed(text, mistakes);
  const file = parseTree(text);
  const agents = file && findNodeAtLocation(file, ['agents']);
  if (mistakes.length === 0) mistakes.push(...misplaced(settings));
  if (mistakes.length > 0 || !file) throw new CorrectThePolicy(source, mistakes);
  if (!agents) return inserted(text, file, 'agents', { health: BOTBOX_DEFAULTS });
  return findNodeAtLocation(agents, ['health']) ? text : inserted(text, agents, 'health', BOTBOX_DEFAULTS);
}

/** The text with one more member at the end of an object, written as the object is. */
function inserted(text: string, object: Node, key: string, value: object): string {
  const last = object.children?.at(-1);
  const at = last ? last.offset + last.length : object.offset + 1;
  const own = text.slice(object.offset, object.offset + object.length);
  const comma = last ? ',' : '';
  if (last && !own.includes('\n'))
    return `${text.slice(0, at)}${comma} "${key}": ${JSON.stringify(value)}${text.slice(at)}`;
  const { unit, eol } = styleOf(text);
  const outer = indentAt(text, object.offset);
  const inner = `${eol}${last ? indentAt(text, last.offset) : outer + unit}`;
  const member = `"${key}": ${JSON.stringify(value, null, unit).replaceAll('\n', inner)}`;
  return `${text.slice(0, at)}${comma}${inner}${member}${last ? '' : eol + outer}${text.slice(at)}`;
}

/** By the first indented line, and the first line end. */
function styleOf(text: string): { readonly unit: string; readonly eol: string } {
  return { unit: /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ', eol: text.includes('\r\n') ? '\r\n' : '\n' };
}

/** What the line begins with that the offset is in. */
function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1))?.[0] ?? '';
}
