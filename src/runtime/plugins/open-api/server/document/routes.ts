/** The operations of plugin routes and endpoints, from their descriptions. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { DescribedResource, JsonSchema } from '../../../../shared/types/description'
import type { DescribedRouteResource, ParameterDescription, ResponseDescription, RouteDescription } from '../../../../shared/types/openapi'
import { STATUS_TEXT } from '../../../../shared/error-codes'
import { DEFAULT_ACCEPTS, FORM_TYPE, isJson } from '../../../../server/kit/request'
import { customBody } from '../../../../server/kit/describe'
import { errorResponses } from './errors'
import type { Documented, DocumentFacts, Grant, GrantedRoute, OnResource, Operation, Parameter, Reference, Response } from './model'
import { refOf, toTemplate } from './names'
import { idParameter, pageParameters, readParameters } from './parameters'
import { embed } from './schemas'
import { JSON_CONTENT } from './operations'
import { parameterRef } from './shared'

/** The schemas of bodies and responses that contain references need names. */
export interface NamedOperation extends Documented {
  readonly schemas: Readonly<Record<string, JsonSchema>>
}

/** Returns the operation of a route, and the schemas that it refers to. */
export function routeOperation(route: GrantedRoute, grant: Grant, facts: DocumentFacts): NamedOperation {
  const { description: { resources, limits } } = grant
  const { resource: name, method, path, describe } = route
  const described = name === undefined ? undefined : resources[name]
  const text = typeof describe === 'function' ? describe(describedOf(name!, described)) : describe ?? { summary: `${method} ${path}` }
  const on: OnResource | undefined = described && { name: name!, described, resources, limits, facts }
  const id = text.operationId ?? route.operationId
  const schemas: Record<string, JsonSchema> = {}
  /** Schemas with definitions become components, because their references begin at their root. */
  const hoist = (schema: JsonSchema, kind: string): JsonSchema => {
    if (!hasReferences(schema)) return schema
    const component = `${id}.${kind}`
    schemas[component] = embed(schema, component)
    return { $ref: `#/components/schemas/${component}` }
  }
  const parameters = parametersOf(route, text, on)
  const operation: Operation = {
    operationId: id,
    ...name !== undefined && { tags: [name] },
    summary: text.summary,
    ...text.description !== undefined && { description: text.description },
    ...parameters.length > 0 && { parameters },
    ...bodyOf(route, text, hoist),
    responses: { ...responsesOf(id, text, hoist), ...errorResponses('route', facts, text.errors) },
  }
  return { method, path: toTemplate(path), operation, schemas }
}

function describedOf(name: string, described: DescribedResource | undefined): DescribedRouteResource {
  const hasRecord = described && Object.values(described.fields).some(({ readable }) => readable)
  return { name, ...described && { described }, record: hasRecord ? refOf(name) : {} }
}

/** References to components of the document are no references of the schema itself. */
function hasReferences(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  return Object.entries(schema).some(([key, value]) =>
    key === '$ref' && typeof value === 'string' ? value.startsWith('#') && !value.startsWith('#/components/') : hasReferences(value))
}

function parametersOf(
  { path, resource, schemas, hasListParameters, isIdempotent, hasDryRun }: GrantedRoute,
  { params = {}, query = {}, headers = {} }: RouteDescription,
  on: OnResource | undefined,
): readonly (Parameter | Reference)[] {
  const ofPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) =>
    name === 'id' && on && resource !== undefined && !params.id
      ? idParameter(on.described)
      : toParameter(name!, 'path', { ...params[name!], required: true }))
  const ofQuery = { ...schemas.query, ...query }
  const isOwn = (parameter: Parameter | Reference) =>
    Object.hasOwn(ofQuery, '$ref' in parameter ? parameter.$ref.slice(parameter.$ref.lastIndexOf('/') + 1) : parameter.name)
  const ofList = hasListParameters && on ? [...readParameters(on), ...pageParameters(on)].filter(parameter => !isOwn(parameter)) : []
  return [
    ...ofPath,
    ...ofList,
    ...Object.entries(ofQuery).flatMap(([name, parameter]) => parameter ? [toParameter(name, 'query', parameter)] : []),
    ...Object.entries(headers).map(([name, parameter]) => toParameter(name, 'header', parameter)),
    ...hasDryRun ? [parameterRef('dryRun')] : [],
    ...isIdempotent ? [parameterRef('idempotencyKey')] : [],
  ]
}

function toParameter(name: string, place: Parameter['in'], given: ParameterDescription): Parameter {
  const { description, schema = { type: 'string' }, required } = given
  return { name, in: place, ...description !== undefined && { description }, ...required && { required }, schema }
}

/** Converts the properties of a `query` schema to parameters. */
export function queryParameters(schema: JsonSchema | undefined): Readonly<Record<string, ParameterDescription>> | undefined {
  if (!schema?.properties) return undefined
  return Object.fromEntries(Object.entries(schema.properties).map(([name, schema_]) =>
    [name, { schema: schema_, ...schema.required?.includes(name) && { required: true } }]))
}

type Hoist = (schema: JsonSchema, kind: string) => JsonSchema

function bodyOf(
  { method, accepts = DEFAULT_ACCEPTS, schemas }: GrantedRoute, { body = schemas.body }: RouteDescription, hoist: Hoist,
): Pick<Operation, 'requestBody'> {
  const isRaw = accepts.some(type => !isJson(type) && type !== FORM_TYPE)
  if (method === 'GET' || (!body && !isRaw)) return {}
  const contentOf = (type: string) => isJson(type) || type === FORM_TYPE ? (body ? { schema: hoist(body, 'body') } : {}) : {}
  return { requestBody: { required: true, content: Object.fromEntries(accepts.map(type => [type, contentOf(type)])) } }
}

function responsesOf(
  id: string, { responses = { 200: { schema: {} } } }: RouteDescription, hoist: Hoist,
): Readonly<Record<string, Response>> {
  return Object.fromEntries(Object.entries(responses).map(([status, response]): [string, Response] =>
    [status, toResponse(Number(status), response, schema => hoist(schema, `response.${status}`), id)]))
}

function toResponse(
  status: number, { description, schema, types = [] }: ResponseDescription, name: (schema: JsonSchema) => JsonSchema, id: string,
): Response {
  const json = schema && toJsonSchema(schema, id)
  const content = { ...json && { [JSON_CONTENT]: { schema: name(json) } }, ...Object.fromEntries(types.map(type => [type, {}])) }
  return { description: description ?? STATUS_TEXT[status] ?? 'The result.', ...Object.keys(content).length > 0 && { content } }
}

function toJsonSchema(schema: JsonSchema | StandardSchemaV1, id: string): JsonSchema {
  return '~standard' in schema ? customBody(schema as StandardSchemaV1, `describe.responses of ${id}`, 'output') ?? {} : schema
}
