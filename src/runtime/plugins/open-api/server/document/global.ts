/** The operations of the generated routes that belong to no resource. */
import { ROUTES, type Method } from '../../../../shared/routes'
import type { JsonSchema } from '../../../../shared/types/description'
import { operationId } from '../../../../server/plugin/description'
import { errorResponses, type ErrorKind } from './errors'
import type { DocumentFacts, Documented, Operation, Parameter } from './model'
import { refTo, toTemplate } from './names'
import { JSON_CONTENT } from './operations'
import { parameterRef } from './shared'

type GlobalRoute = Exclude<typeof ROUTES[number], { readonly path: `/:resource${string}` }>['name']

interface Draft {
  readonly summary: string
  readonly response: JsonSchema
  readonly parameters?: readonly Parameter[]
  readonly errors?: ErrorKind
  /** Whether an anonymous caller cannot use it. */
  readonly forSignedIn?: true
}

const string: JsonSchema = { type: 'string' }
const strings: JsonSchema = { type: 'array', items: string }

const object = (properties: Readonly<Record<string, JsonSchema>>): JsonSchema =>
  ({ type: 'object', properties, required: Object.keys(properties) })
const named = (schema: JsonSchema): JsonSchema => ({ type: 'object', additionalProperties: schema })

const DRAFTS: Readonly<Record<GlobalRoute, Draft>> = {
  'permissions': { summary: 'Permissions of all resources', response: object({ permissions: named(refTo('api.capabilities')) }) },
  'schema': {
    summary: 'Description of the API for this caller',
    response: object({ resources: named({ type: 'object' }), limits: { type: 'object' } }),
    parameters: [{
      name: 'resources', in: 'query', style: 'form', explode: false, schema: strings, description: 'The resources to describe.',
    }],
  },
  'm2m-junctions': {
    summary: 'Junction tables', forSignedIn: true,
    response: object({ junctions: { type: 'array', items: object({ table: string, resources: strings }) }, count: { type: 'integer' } }),
  },
  'm2m-is-junction': {
    summary: 'Whether a table is a junction table', forSignedIn: true, response: object({ table: string, isJunction: { type: 'boolean' } }),
    parameters: [{ name: 'table', in: 'path', required: true, schema: string }],
  },
  'm2m-detect': {
    summary: 'Many-to-many relations of a resource', forSignedIn: true, errors: 'record',
    response: object({
      resource: string, relationships: { type: 'array', items: object({ name: string, resource: string, junction: string }) },
    }),
    parameters: [{ name: 'name', in: 'path', required: true, schema: string, description: 'The name of the resource.' }],
  },
}

const GLOBAL = ROUTES.filter(({ path }) => !path.startsWith('/:resource')) as unknown as
  readonly { readonly name: GlobalRoute, readonly method: Method, readonly path: string }[]

export function globalOperations(facts: DocumentFacts, isSignedIn: boolean): readonly Documented[] {
  return GLOBAL.flatMap(({ name, method, path }) => {
    const draft = DRAFTS[name]
    if ((draft.forSignedIn && !isSignedIn) || facts.isAppRoute(method, path)) return []
    return [{ method, path: facts.prefix + toTemplate(path), operation: toOperation(name, draft, facts) }]
  })
}

function toOperation(name: GlobalRoute, { summary, response, parameters = [], errors = 'read' }: Draft, facts: DocumentFacts): Operation {
  return {
    operationId: operationId('api', name),
    summary,
    parameters: [...parameters, parameterRef('ifNoneMatch')],
    responses: {
      200: {
        description: 'The result.',
        headers: { ETag: { schema: string } },
        content: { [JSON_CONTENT]: { schema: response } },
      },
      304: { description: 'The client has this response.' },
      ...errorResponses(errors, facts),
    },
  }
}
