/** Explains why a caller cannot read or write fields. */
import type { Decision } from '../../shared/explanation'
import { refusedFields } from '../core/access/fields'
import { callFor } from '../core/access/authorize'
import { describePermission } from '../schema/access-matrix'
import type { Resource } from '../schema/model'
import type { Explaining } from './explain'
import { withPlace } from './places'

export async function explainFields({ session, operation, error, places }: Explaining, resource: Resource): Promise<Decision[]> {
  const side = error.code === 'FIELD_FORBIDDEN' ? 'write' : 'read'
  const refused = await refusedFields(callFor(session, resource, operation), resource, side)
  const names = error.fields ?? (error.field === undefined ? [] : [error.field])
  return names.map((field): Decision => {
    const about = { kind: 'field', resource: resource.name, operation, passed: false } as const
    if (refused.has(field)) {
      const rule = `${resource.name}.authorization.fields.${field}.${side}`
      const requires = describePermission(resource.auth!.fields![field]![side]!)
      return withPlace({ ...about, rule, requires, text: `\`${rule}\` requires ${requires}, and refuses the caller.` }, places)
    }
    const hidden = resource.hidden.has(field)
    const rule = `${resource.name}.${hidden ? 'hiddenFields' : 'fields'}`
    const why = hidden ? 'is hidden' : resource.fields.has(field) ? 'is set by the server only' : 'does not exist'
    return withPlace({ ...about, rule, text: `The field \`${field}\` of \`${resource.name}\` ${why}.` }, places)
  })
}
