/** Creates the OpenAPI document of a caller. The same grant always gives the same text. */
import type { JsonSchema } from '../../../../shared/types/description'
import { errorComponents } from './errors'
import { globalOperations } from './global'
import type { Documented, DocumentFacts, Grant, GrantedRoute, OnResource, Operation, Parameter, Reference } from './model'
import { toTemplate } from './names'
import { resourceOperations } from './operations'
import { routeOperation, type NamedOperation } from './routes'
import { resourceSchemas } from './schemas'
import { SHARED_SCHEMAS, sharedParameters } from './shared'

export type { DocumentFacts, Grant, GrantedRoute } from './model'

export interface OpenApiDocument {
  readonly openapi: '3.1.0'
  readonly info: object
  readonly servers: readonly object[]
  readonly tags: readonly object[]
  readonly security?: readonly object[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: object
}

export function createDocument(grant: Grant, facts: DocumentFacts): OpenApiDocument {
  const { description: { resources, limits }, isSignedIn, base } = grant
  const onResources = Object.entries(resources).map(([name, described]): OnResource => ({ name, described, resources, limits, facts }))
  const generated = [...onResources.flatMap(resourceOperations), ...globalOperations(facts, isSignedIn)]
  const named = grant.routes.filter(({ produces }) => !produces).map(route => routeOperation(route, grant, facts))
  const negotiated = grant.routes.filter(({ produces }) => produces)
  const schemas = Object.assign({}, SHARED_SCHEMAS, ...onResources.map(({ name, described }) => resourceSchemas(name, described, limits)),
    ...named.map(({ schemas }) => schemas)) as Readonly<Record<string, JsonSchema>>
  const { securitySchemes } = facts
  const names = Object.keys(securitySchemes)
  return {
    openapi: '3.1.0',
    info: facts.info,
    servers: facts.servers ?? [{ url: base === '' ? '/' : base }],
    tags: onResources.map(({ name, described: { label } }) => ({ name, description: label })),
    ...names.length > 0 && { security: [...isSignedIn ? [] : [{}], ...names.map(name => ({ [name]: [] }))] },
    paths: toPaths([...generated.map(operation => addNegotiated(operation, negotiated, grant, facts)), ...named]),
    components: {
      schemas: withoutMissing(schemas),
      parameters: sharedParameters(limits),
      responses: errorComponents(facts),
      ...names.length > 0 && { securitySchemes },
    },
  }
}

/** A list that is also sent as another media type has the parameters of both. */
function addNegotiated(documented: Documented, routes: readonly GrantedRoute[], grant: Grant, facts: DocumentFacts): Documented {
  const found = routes.find(({ method, path }) => method === documented.method && toTemplate(path) === documented.path)
  if (!found) return documented
  const { operation } = documented
  const { operation: other } = routeOperation(found, grant, facts)
  const keyOf = (parameter: Parameter | Reference) => '$ref' in parameter ? parameter.$ref : `${parameter.in} ${parameter.name}`
  const known = new Set((operation.parameters ?? []).map(keyOf))
  const response = operation.responses[200] as { readonly content?: object }
  const content = { ...response.content, ...Object.fromEntries(found.produces!.map(type => [type, {}])) }
  return {
    ...documented,
    operation: {
      ...operation,
      parameters: [...operation.parameters ?? [], ...(other.parameters ?? []).filter(parameter => !known.has(keyOf(parameter)))],
      responses: { ...operation.responses, 200: { ...response, content } as Operation['responses'][string] },
    },
  }
}

function toPaths(operations: readonly (Documented | NamedOperation)[]): OpenApiDocument['paths'] {
  const paths: Record<string, Record<string, Operation>> = {}
  for (const { method, path, operation } of operations) (paths[path] ??= {})[method.toLowerCase()] = operation
  return paths
}

/** A relation can lead to a resource whose records the caller gets in no response of its own. Its schema then says nothing. */
function withoutMissing(schemas: Readonly<Record<string, JsonSchema>>): Readonly<Record<string, JsonSchema>> {
  const referenced = new Set([...JSON.stringify(schemas).matchAll(/"#\/components\/schemas\/([\w.-]+)"/g)].map(([, name]) => name!))
  const missing = [...referenced].filter(name => !Object.hasOwn(schemas, name)).map(name => [name, {}] as const)
  return { ...schemas, ...Object.fromEntries(missing) }
}
