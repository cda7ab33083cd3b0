/** Removes properties from the JSON Schema of a request body, so that it does not disclose columns. */
import { isObject } from '../../../shared/is-object'
import type { JsonSchema } from '../../../shared/types/description'

type IsOmitted = (name: string) => boolean
type Keyword = (value: unknown, isOmitted: IsOmitted) => unknown

const keep: Keyword = value => value
const names: Keyword = (value, isOmitted) => Array.isArray(value) ? value.filter(name => !isOmitted(String(name))) : value
const schema: Keyword = (value, isOmitted) => isObject(value) ? omitProperties(value, isOmitted) : value
const schemas: Keyword = (value, isOmitted) => Array.isArray(value) ? value.map(part => schema(part, isOmitted)) : value
const byDefinition: Keyword = (value, isOmitted) => mapEntries(value, part => schema(part, isOmitted))
const byProperty = (of: Keyword): Keyword => (value, isOmitted) => {
  const kept = isObject(value) ? Object.fromEntries(Object.entries(value).filter(([name]) => !isOmitted(name))) : value
  return mapEntries(kept, part => of(part, isOmitted))
}

function mapEntries(value: unknown, map: (part: unknown) => unknown): unknown {
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, part]) => [name, map(part)])) : value
}

/** The keywords that stay in the schema of a body. Another keyword, such as `default` or `patternProperties`, could contain a column. */
const KEYWORDS: Readonly<Record<string, Keyword>> = {
  type: keep, title: keep, description: keep, $ref: keep, minProperties: keep, maxProperties: keep,
  additionalProperties: keep, unevaluatedProperties: keep,
  required: names,
  properties: byProperty(keep),
  dependentRequired: byProperty(names),
  dependentSchemas: byProperty(schema),
  allOf: schemas, anyOf: schemas, oneOf: schemas,
  if: schema, then: schema, else: schema, not: schema,
  $defs: byDefinition, definitions: byDefinition,
}

/** Returns the schema of a body without some properties of the body. Properties of nested objects stay. */
export function omitProperties(body: JsonSchema, isOmitted: IsOmitted): JsonSchema {
  return Object.fromEntries(Object.entries(body).flatMap(([name, value]) => {
    const keyword = Object.hasOwn(KEYWORDS, name) ? KEYWORDS[name] : undefined
    const kept = keyword?.(value, isOmitted)
    return kept === undefined || (name === 'required' && (kept as readonly unknown[]).length === 0) ? [] : [[name, kept]]
  }))
}
