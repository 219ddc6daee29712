/** A tool call in neutral terms; each API translates it to the name and the input that its client expects. */
export type ToolCall =
  | { readonly kind: 'shell'; readonly command: string; readonly options: ShellOptions }
  | { readonly kind: 'read'; readonly path: string }
  | { readonly kind: 'write'; readonly path: string; readonly content: string }
  /** a tool of one client, passed through as it is */
  | { readonly kind: 'native'; readonly name: string; readonly input: Readonly<Record<string, unknown>> };

export type ShellOptions = {
  readonly timeoutMs?: number;
  readonly background?: boolean;
  /** requests a permission outside of the sandbox (Codex) */
  readonly escalate?: boolean;
};

export type Usage = { readonly inputTokens: number; readonly outputTokens: number };

/** The model's reaction to one request. */
export type Answer =
  | {
      readonly kind: 'message';
      readonly text: string;
      readonly calls: readonly ToolCall[];
      readonly usage: Usage | null;
    }
  /** accepts the request and never answers */
  | { readonly kind: 'hang' }
  /** starts to stream this text and stops in the middle */
  | { readonly kind: 'stall'; readonly text: string }
  | {
      readonly kind: 'error';
      readonly status: number;
      readonly type: string;
      readonly message: string;
      readonly headers: Readonly<Record<string, string>>;
    };

export type ClientKind = 'claude-code' | 'codex' | 'gemini-cli';

/** The inputs of a scenario's decision. */
export type Conversation = {
  readonly client: ClientKind;
  /** assistant messages with tool calls that this conversation holds: 0 in a session that has just started */
  readonly turn: number;
  /** requests of the main conversation since the model started, this one included; survives a restart of the client */
  readonly request: number;
  readonly isSubagent: boolean;
  /** the texts that reached the model outside of the assistant's messages: prompts, tool results, hook context */
  readonly inputs: readonly string[];
  /** the folder in which the client works */
  readonly workdir: string;
};

export const reply = (text: string): Answer => ({ kind: 'message', text, calls: [], usage: null });

export const call = (text: string, ...calls: readonly ToolCall[]): Answer => ({
  kind: 'message',
  text,
  calls,
  usage: null,
});

export const shell = (command: string, options: ShellOptions = {}): ToolCall => ({ kind: 'shell', command, options });

export const hang: Answer = { kind: 'hang' };

export const fail = (
  status: number,
  type: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Answer => ({ kind: 'error', status, type, message, headers });

/** The usage to report: what the answer names, or a figure that grows with the conversation. */
export const usageOf = (answer: { readonly usage: Usage | null }, turn: number): Usage =>
  answer.usage ?? { inputTokens: 1000 + 200 * turn, outputTokens: 20 };
