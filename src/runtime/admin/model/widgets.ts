/** Which widget edits a field: the one of the options, else the one for its kind. */
import type { AdminField, AdminWidget } from '../../shared/types/admin'
import type { JsonSchema } from '../../shared/types/description'
import type { DescribedField } from './schema'

export type Widget = AdminWidget | 'relation' | 'digits'

const BY_KIND: Readonly<Record<DescribedField['kind'], Widget>> = {
  text: 'text',
  number: 'number',
  integer: 'number',
  boolean: 'switch',
  date: 'datetime',
  // A JavaScript number cannot hold these values exactly, so they stay text.
  bigint: 'digits',
  decimal: 'digits',
  json: 'json',
  blob: 'textarea',
  custom: 'text',
}

/** Texts that can be longer than this get several lines. */
const ONE_LINE = 240

export function widgetOf(name: string, field: DescribedField, options: AdminField | undefined, schema: JsonSchema | undefined): Widget {
  if (options?.widget) return options.widget
  if (field.enum) return 'select'
  if (field.references?.relation !== undefined) return 'relation'
  if (field.kind !== 'text') return BY_KIND[field.kind]
  const { maxLength, format } = rulesOf(schema?.properties?.[name])
  if (format === 'email') return 'email'
  if (format === 'uri') return 'url'
  const isLong = typeof maxLength === 'number' ? maxLength > ONE_LINE : LONG_NAMES.test(name)
  return isLong ? 'textarea' : 'text'
}

const LONG_NAMES = /body|content|description|text|notes?$|comment|bio/i

/** A nullable field has its rules in the branch that is not null. */
function rulesOf(schema: JsonSchema | undefined): JsonSchema {
  const branches = (schema?.anyOf ?? schema?.oneOf) as readonly JsonSchema[] | undefined
  return branches?.find(({ type }) => type !== 'null') ?? schema ?? {}
}
