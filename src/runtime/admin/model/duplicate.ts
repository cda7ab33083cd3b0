/** The first values of a copy of a record. */
import type { Row } from '../../app/any-resource'
import type { DescribedResource } from '../../shared/types/description'

/**
 * Returns what a person can enter for a new record. The server sets the other values itself, and files belong to one record. A value that
 * has to be unique stays as it is: the answer of the server names it.
 * @param described the resource
 * @param row the record
 * @param others fields that plugins show, such as files
 */
export function duplicateValues(described: Pick<DescribedResource, 'fields'>, row: Row, others: readonly string[]): Row {
  return Object.fromEntries(Object.entries(described.fields).flatMap(([name, { writable, role, primaryKey, hasDefault, kind }]) => {
    const isOwn = writable.create && role === undefined && !(primaryKey && hasDefault) && kind !== 'blob' && !others.includes(name)
    const value = row[name]
    return isOwn && value !== undefined && value !== null ? [[name, value]] : []
  }))
}
