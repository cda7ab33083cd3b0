/** Shows JSON Schemas. References are links to the list of schemas. */
import type { JsonSchema } from '../../../../shared/types/description'
import { html, type Html } from './html'

const MAX_VALUES = 30

/** The keywords that the page shows. */
interface Keywords extends JsonSchema {
  readonly $ref?: string
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly allOf?: readonly JsonSchema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly format?: string
  readonly items?: JsonSchema
}

/** A schema in one line. */
export function typeOf(schema: JsonSchema): Html {
  const { $ref: reference, anyOf, oneOf, allOf, type, enum: values, const: constant, format, items }: Keywords = schema
  if (typeof reference === 'string') return linkTo(reference)
  const options = anyOf ?? oneOf
  if (options) return joined(options.map(typeOf), ' | ')
  if (allOf) return joined(allOf.map(typeOf), ' & ')
  if (constant !== undefined) return html`<code>${JSON.stringify(constant)}</code>`
  if (values) {
    const shown = values.slice(0, MAX_VALUES).map(value => JSON.stringify(value)).join(' | ')
    return html`<code>${shown}${values.length > MAX_VALUES ? ' | …' : ''}</code>`
  }
  if (type === 'array') return items ? html`list of ${typeOf(items)}` : html`list`
  if (type === 'object' && schema.properties && Object.keys(schema.properties).length > 0) return propertiesView(schema)
  return html`${type === undefined ? 'any JSON' : [type].flat().join(' | ')}${format === undefined ? '' : ` (${format})`}`
}

/** A schema of the list: the properties of an object as a table. */
export function schemaView(schema: JsonSchema): Html {
  const description = typeof schema.description === 'string' ? html`<p>${schema.description}</p>` : ''
  return html`${description}${schema.properties ? propertiesView(schema) : html`<p>${typeOf(schema)}</p>`}`
}

function propertiesView({ properties = {}, required = [] }: JsonSchema): Html {
  return html`<dl class="properties">${Object.entries(properties).map(([name, schema]) =>
    html`<dt><code>${name}</code>${required.includes(name) ? '' : '?'}</dt><dd>${typeOf(schema)}</dd>`)}</dl>`
}

/** `#/components/schemas/posts` → a link to `posts` */
function linkTo(reference: string): Html {
  const name = reference.split('/')[3] ?? reference
  return html`<a href="${`#schema-${name}`}"><code>${name}</code></a>`
}

function joined(parts: readonly Html[], separator: string): Html {
  return html`${parts.map((part, index) => index === 0 ? part : [separator, part])}`
}
