import { expect, test } from 'vitest';
import { turnFailed as ofClaudeCode } from '../claude-code/failure.ts';
import { turnFailed as ofCodex } from '../codex/failure.ts';
import { turnFailed as ofGeminiCli } from '../gemini-cli/failure.ts';
import { statusIn } from './failure.ts';

const now = Date.parse('2026-11-23T12:00:00Z');

test.each([
  ['unexpected status 400 Bad Request: must be at least 512', 400],
  ['exceeded retry limit, last status: 429 Too Many Requests', 429],
  ['API Error: 529 overloaded', 529],
  ['API Error: Request rejected (429) · This request would exceed your rate limit', 429],
  ['{"error":{"code":503,"message":"busy"}}', 503],
  ['503 Service Unavailable', 503],
  ['[API Error: 400 INVALID_ARGUMENT: text exceeds 512 tokens]', 400],
  ['request id: req_500', null],
  ['error: 512 tokens are too few', null],
  ['text exceeds 500 tokens', null],
  ['', null],
])('the status of %j is %s', (text, status) => {
  expect(statusIn(text)).toBe(status);
});

test.each([
  [{ message: "unexpected status 400 Bad Request: 'max_output_tokens': must be at least 512" }, 'api_400', false],
  [{ message: 'unexpected status 401 Unauthorized: rate limit of 500, request id: req_500' }, 'api_401', false],
  [{ message: 'unexpected status 503 Service Unavailable' }, 'api_503', true],
  [{ message: 'exceeded retry limit, last status: 429 Too Many Requests' }, 'api_429', true],
  [
    { message: '', codex_error_info: { response_too_many_failed_attempts: { http_status_code: 429 } } },
    'api_429',
    true,
  ],
  [{ message: 'at 503', codex_error_info: { http_connection_failed: { http_status_code: 400 } } }, 'api_400', false],
  [{ message: '{"type":"invalid_request_error","message":"at most 500 at capacity"}' }, 'invalid_request_error', false],
  [{ message: 'You are at 500', codex_error_info: 'context_window_exceeded' }, 'context_window_exceeded', false],
  [{ message: 'status 500 overloaded', codex_error_info: 'unauthorized' }, 'api_500', false],
  [{ message: "You've hit your usage limit.", codex_error_info: 'usage_limit_exceeded' }, 'usage_limit_exceeded', true],
  [{ message: 'busy', codex_error_info: 'server_overloaded' }, 'server_overloaded', true],
  [{ message: 'stream disconnected before completion' }, 'error', true],
  [{ message: 'Selected model is at capacity. Please try a different model.' }, 'error', true],
  [{ message: 'unexpected status 429: {"error":{"code":"some_code"}}' }, 'api_429', true],
  [{ message: 'a file of 512 lines', codex_error_info: 'other' }, 'error', false],
])('Codex: %j is %s, passes: %s', (error, errorClass, passes) => {
  expect(ofCodex(error, now, { zone: () => 'UTC', limitedUntil: null })).toMatchObject({ errorClass, passes });
});

test.each([
  ['error', '[API Error: 400 INVALID_ARGUMENT: text exceeds 512 tokens, quota 500]', false],
  ['error', '{"error":{"code":403,"status":"PERMISSION_DENIED","message":"quota 500"}}', false],
  ['error', '{"error":{"status":"INVALID_ARGUMENT","message":"overloaded field at 500"}}', false],
  ['error', '{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}', true],
  ['error', '[API Error: You have exhausted your capacity on this model. Your quota will reset after 5h20m10s.]', true],
  ['error', 'the model is UNAVAILABLE', true],
  ['error', 'a text of 512 tokens', false],
  ['error', 'status 500', true],
])('Gemini CLI: %s of %j, passes: %s', (errorClass, message, passes) => {
  expect(ofGeminiCli(errorClass, message, now)).toMatchObject({ errorClass, passes });
});

test.each([
  ['rate_limit', 'a limit', true],
  ['overloaded', '', true],
  ['invalid_request', 'API Error: 529 overloaded', false],
  ['unknown', 'API Error: 529 overloaded', true],
  ['unknown', 'API Error: 400 rate limit of 500', false],
  ['unknown', 'at most 512 images', false],
  ['unknown', 'You are above your usage limit', true],
])('Claude Code: %s of %j, passes: %s', (errorClass, text, passes) => {
  expect(ofClaudeCode(errorClass, text, now)).toMatchObject({ errorClass, passes });
});
