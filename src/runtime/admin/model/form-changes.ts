/** The changes of a form: how many there are, and how to bring them back after they were discarded or saved. */
import type { Row } from '../../app/any-resource'
import type { AnyForm } from '../../app/form/types'

type Form = Pick<AnyForm, 'state' | 'changes' | 'children' | 'record'>

const rowsOf = ({ children }: Pick<Form, 'children'>) => Object.values(children).flatMap(({ rows }) => rows)

/** The number of changed fields, and of added, changed and removed rows. */
export const countChanges = (form: Pick<Form, 'changes' | 'children'>): number =>
  Object.keys(form.changes.value).length + rowsOf(form).filter(({ state }) => state !== 'unchanged').length

/** Keeps the changes of a form. The result makes them again in the form, after a reset. */
export function keepChanges({ state, changes, children }: Form): () => void {
  const values = { ...changes.value }
  const lists = Object.values(children).map(list => ({
    list, rows: list.rows.map(({ key, state, isNew, values }) => ({ key, state, isNew, values: { ...values } })),
  }))
  return () => {
    Object.assign(state, values)
    for (const { list, rows } of lists) {
      for (const { key, state, isNew, values } of rows) {
        if (isNew) {
          if (state === 'new') list.add(values)
          continue
        }
        const row = list.rows.find(row => row.key === key)
        if (row && state !== 'unchanged') Object.assign(row.values, values)
        if (row && state === 'removed') list.remove(key)
      }
    }
  }
}

/** Returns the values that the changes replace; `undefined` if the form does not know all of them. */
export function earlierValues(form: Form): Row | undefined {
  const { value: record } = form.record
  const names = Object.keys(form.changes.value)
  const isKnown = record !== undefined && names.length > 0 && names.every(name => record[name] !== undefined)
  if (!isKnown || rowsOf(form).some(({ state }) => state !== 'unchanged')) return undefined
  return Object.fromEntries(names.map(name => [name, record[name]]))
}
