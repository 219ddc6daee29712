import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { z } from 'zod';
import { ApiRefusal } from './api.ts';

type Shape = z.ZodRawShape;
type Values<S extends Shape> = z.output<z.ZodObject<S>>;

/** A tool. `acts`: it changes something; the other tools only read. */
export type Tool<Input extends Shape, Output extends Shape> = {
  readonly name: string;
  readonly description: string;
  readonly acts: boolean;
  readonly input: Input;
  readonly output: Output;
  readonly run: (input: Values<Input>) => Promise<Values<Output>>;
};

/** What the dashboard's sentences name for people, and the tool that answers the same. */
const TOOLS: Readonly<Record<string, string>> = {
  'vigil health': 'list_agents',
  'vigil inbox': 'inbox',
  'vigil case list': 'inbox',
  'vigil task list': 'inbox',
  'vigil explain AGENT': 'explain_agent',
};

/** A refusal in the words of a model, which has neither a command line nor the addresses of the API. */
const forModel = (message: string): string =>
  message.replace(/ \(\/v1\/[^)]*\)/g, '').replace(/`(vigil [^`]*)`/g, (whole, command: string) => {
    const tool = TOOLS[command];
    return tool === undefined ? whole : `the tool \`${tool}\``;
  });

const textResult = (text: string) => ({ content: [{ type: 'text' as const, text }] });

/** Registers a tool. Its result is JSON, as text and as structured content; a refusal is an error that the model reads. */
export const register = <Input extends Shape, Output extends Shape>(
  server: McpServer,
  { name, description, acts, input, output, run }: Tool<Input, Output>,
): void => {
  const annotations = { readOnlyHint: !acts, destructiveHint: acts, openWorldHint: false };
  const call = async (given: Values<Input>): Promise<CallToolResult> => {
    try {
      const result = await run(given);
      return { ...textResult(JSON.stringify(result)), structuredContent: result as Record<string, unknown> };
    } catch (error) {
      if (error instanceof ApiRefusal) return { ...textResult(forModel(error.message)), isError: true };
      throw error;
    }
  };
  server.registerTool(name, { description, inputSchema: input, outputSchema: output, annotations }, call as never);
};
