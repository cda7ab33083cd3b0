/** The children of a form by relation: what the form loads with its record, sends with its fields, and shows as errors. */
import type { DescribedResource } from '../../shared/types/description'
import type { Row } from '../any-resource'
import type { FormError } from '../error'
import { foreignKeyOf, targetOf, type IncludeTree } from '../keys'
import { createChildren, type FormChildren } from './children'
import type { SchemaIssue } from './json-schema'
import type { AnyChildren, AnyFormOptions } from './types'
import type { Values } from './values'

export interface FormNested {
  readonly include: IncludeTree
  /** The resources of the children. */
  readonly targets: readonly string[]
  readonly lists: Readonly<Record<string, AnyChildren>>
  readonly isDirty: () => boolean
  /** Shows the children of a record, or none, without changes. */
  readonly open: (record: Row | undefined) => void
  readonly reset: () => void
  readonly rebase: (record: Row) => void
  readonly collect: () => CollectedNested
}

export interface CollectedNested {
  /** By relation. */
  readonly body: Values
  readonly errors: readonly FormError[]
  /** Shows the errors of children, and returns the others. */
  readonly refuse: (errors: readonly FormError[]) => readonly FormError[]
}

export function createNested(
  resource: string, options: NonNullable<AnyFormOptions['nested']>, describedOf: (name: string) => DescribedResource | undefined,
  toMessage: (issue: SchemaIssue) => string,
): FormNested {
  const entries = Object.entries(options).map(([relation, option]) => {
    const position = option === true ? undefined : option.position
    const target = targetOf(resource, relation)
    const children = createChildren({
      relation, target, foreignKey: foreignKeyOf(resource, relation), position, toMessage,
      described: () => describedOf(target),
      actions: () => describedOf(resource)?.relations[relation]?.nested ?? [],
    })
    return { relation, target, position, children }
  })
  const each = (run: (children: FormChildren, relation: string) => void) =>
    entries.forEach(({ children, relation }) => run(children, relation))
  const rowsOf = (record: Row | undefined, relation: string) => (record?.[relation] ?? []) as readonly Row[]
  return {
    include: Object.fromEntries(entries.map(({ relation, position }) => [relation, position === undefined || { sort: position }])),
    targets: entries.map(({ target }) => target),
    lists: Object.fromEntries(entries.map(({ relation, children }) => [relation, children.list])),
    isDirty: () => entries.some(({ children }) => children.isDirty()),
    open: record => each((children, relation) => children.open(rowsOf(record, relation))),
    reset: () => each(children => children.reset()),
    rebase: record => each((children, relation) => children.rebase(rowsOf(record, relation))),
    collect() {
      const collected = entries.map(({ relation, children }) => [relation, children.collect()] as const)
      return {
        body: Object.fromEntries(collected.flatMap(([relation, { body }]) => body ? [[relation, body]] : [])),
        errors: collected.flatMap(([, { errors }]) => errors),
        refuse(errors) {
          for (const [, { refuse }] of collected) refuse(errors)
          return errors.filter(({ name }) => !Object.hasOwn(options, name.split('.', 1)[0]!))
        },
      }
    },
  }
}
