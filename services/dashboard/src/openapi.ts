import { z } from 'zod';
import { ROLE_OF_ROUTE, type Route } from './access/roles.ts';
import { DESCRIPTIONS, PUBLISHED } from './api-description.ts';

export { PUBLISHED };

type Schema = { readonly [key: string]: unknown };

const PROBLEM: Schema = {
  type: 'object',
  description: 'RFC 9457',
  properties: {
    type: { type: 'string', description: 'names the kind for programs' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'what is wrong, with which value, and what to do' },
    field: { type: 'string' },
  },
  required: ['type', 'title', 'status', 'detail'],
};

const problem = (text: string): Schema => ({
  description: text,
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
});

const OPEN = new Set(['public', 'link']);

const parametersOf = (route: Route, path: string): readonly Schema[] => {
  const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    ...{ name, in: 'path', required: true },
    schema: { type: 'string' },
  }));
  const { query } = DESCRIPTIONS[route];
  if (query === null) return named;
  const { properties = {}, required = [] } = z.toJSONSchema(query, { io: 'input', unrepresentable: 'any' });
  return [
    ...named,
    ...Object.entries(properties).map(([name, schema]) => {
      const { description, ...rest } = schema as Schema;
      return {
        name,
        in: 'query',
        required: required.includes(name),
        ...(description ? { description } : {}),
        schema: rest,
      };
    }),
  ];
};

const operationOf = (route: Route, path: string): Schema => {
  const { summary, body, answers } = DESCRIPTIONS[route];
  const role = ROLE_OF_ROUTE[route];
  const answered = Object.entries(answers).map(([status, { text, type, schema }]) => [
    status,
    { description: text, ...(schema === null ? {} : { content: { [type]: { schema } } }) },
  ]);
  return {
    summary,
    ...(OPEN.has(role) ? { security: [] } : { 'x-role': role }),
    parameters: parametersOf(route, path),
    ...(body === null ? {} : { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
    responses: {
      ...Object.fromEntries(answered),
      ...(OPEN.has(role) ? {} : { 401: problem('without a valid token'), 403: problem('another role is needed') }),
      default: problem('any other error'),
    },
  };
};

/** The description of the API. `schemas`: of the types that it publishes, by name. */
export const openApiDocument = (schemas: Readonly<Record<string, Schema>>): Schema => {
  const paths: Record<string, Record<string, Schema>> = {};
  for (const route of Object.keys(ROLE_OF_ROUTE) as Route[]) {
    const [method = '', url = ''] = route.split(' ');
    const path = url.replaceAll(/:(\w+)/g, '{$1}').replace('*', '{file}');
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(route, path) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Vigil', version: '1', description: 'The API of the dashboard. Times are epoch milliseconds.' },
    security: [{ token: [] }, { session: [] }],
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: 'vigil_session' },
      },
      schemas: { Problem: PROBLEM, ...schemas },
    },
  };
};
