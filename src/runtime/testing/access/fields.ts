/** The part of an access matrix about fields: who reads a field, and who can set it in a create and in an update. */
import type { TestClient } from '../api/client'
import { NONE, toCell, YES } from './cell'
import type { FoundResource } from './discover'
import { toPath, write, type RowId } from './probes'
import { sampleOf, type Values } from './values'

/** What one caller can do with the rows of a resource. */
export interface RowAccess {
  /** The records that the caller can read. */
  readonly records: readonly Values[]
  /** A row that the caller can update. */
  readonly updatable: RowId | undefined
  readonly canCreate: boolean
}

/** Where the values of a field come from. */
export interface FieldValues {
  /** The body of a create. */
  readonly body: Values
  /** Values of the test. */
  readonly given: Values
  /** A record with the fields of all callers. */
  readonly known: Values
}

/** Returns `read, create, update`, as far as the caller can. */
export async function fieldCell(
  client: TestClient, resource: FoundResource, name: string, { records, updatable, canCreate }: RowAccess,
  { body, given, known }: FieldValues,
): Promise<string> {
  const field = resource.fields.get(name)!
  const value = [given, known, body].find(values => Object.hasOwn(values, name))?.[name]
    ?? (field.nullable ? null : sampleOf(resource.create?.properties?.[name] ?? {}))
  const sent = async (word: string, method: string, path: string, data: Values) => {
    const response = await write(client, method, path, { body: data })
    const cell = toCell(response)
    if (cell === YES) return [word]
    return response.code === 'FIELD_FORBIDDEN' ? [] : [`${word} ${cell}`]
  }
  const words = [
    ...records.some(record => Object.hasOwn(record, name)) ? ['read'] : [],
    ...canCreate && field.writable.create
      ? await sent('create', 'POST', `/${resource.name}`, { ...body, [name]: body[name] ?? value })
      : [],
    ...updatable !== undefined && field.writable.update
      ? await sent('update', 'PATCH', `/${resource.name}/${toPath(updatable)}`, { [name]: value })
      : [],
  ]
  return words.join(', ') || NONE
}
