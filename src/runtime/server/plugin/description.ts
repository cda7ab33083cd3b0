/** Parts of descriptions that the routes of several plugins share. They refer to components that every OpenAPI document has. */
import type { JsonSchema } from '../../shared/types/description'
import type { ParameterDescription } from '../../shared/types/openapi'

export const text: JsonSchema = { type: 'string' }
export const whole: JsonSchema = { type: 'integer' }
export const textOrNull: JsonSchema = { type: ['string', 'null'] }

/** An object with these properties, all of them required unless `required` names others. */
export function objectOf(
  properties: Readonly<Record<string, JsonSchema>>, required: readonly string[] = Object.keys(properties),
): JsonSchema {
  return { type: 'object', properties, ...required.length > 0 && { required } }
}

export const pageOf = (entry: JsonSchema): JsonSchema =>
  objectOf({ data: { type: 'array', items: entry }, meta: { $ref: '#/components/schemas/api.listMeta' } })

const number: JsonSchema = { type: 'integer', minimum: 1 }

/** Converts a name to letters, digits, `_` and `-`. Other characters become their code, so that two names never become equal. */
export const toName = (text: string) => text.replace(/[^\w-]/gu, character => `_${character.codePointAt(0)!.toString(16)}`)

/** The id of an operation. It depends only on names, so it is the same in the documents of all callers. */
export const operationId = (...parts: readonly string[]) => parts.map(toName).join('.')

/** The parameters of a list of a plugin. */
export const PAGE_PARAMETERS: Readonly<Record<string, ParameterDescription>> = {
  limit: { description: 'The number of entries.', schema: number },
  page: { description: 'The number of the page.', schema: number },
  cursor: { description: '`nextCursor` of the page before. Empty for the first page.' },
  count: { description: 'How the total is counted.', schema: { type: 'string', enum: ['exact', 'none'] } },
}
