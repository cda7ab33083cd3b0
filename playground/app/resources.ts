/** The resources as the pages show them. Everything comes from the description of the API, so it depends on the caller. */
import type { Operator } from './explorer/operators'

/** The properties of a described field that the pages use. */
export interface FieldView {
  readonly label: string
  readonly kind: string
  readonly readable: boolean
  readonly enum?: readonly string[]
  readonly operators: readonly Operator[]
  readonly sortable: boolean
  readonly aggregates: readonly string[]
  readonly metadata: Readonly<Record<string, unknown>>
}

export interface RelationView {
  readonly kind: 'one' | 'many' | 'manyToMany'
  readonly target: string
  readonly includable: boolean
  readonly countable: boolean
}

/** The properties of a described resource that the pages use. */
export interface DescribedView {
  readonly label: string
  readonly fields: Readonly<Record<string, FieldView>>
  readonly relations: Readonly<Record<string, RelationView>>
  readonly trash?: object
}

export interface ResourceView extends DescribedView {
  readonly name: string
  /** Columns of the table: the fields with `column` in their metadata, in this order. */
  readonly columns: readonly string[]
  /** The column that names a row in the trash. */
  readonly title: string
}

export type Row = Record<string, unknown>

export function toViews(resources: Readonly<Record<string, DescribedView>>): readonly ResourceView[] {
  return Object.entries(resources).map(([name, resource]) => {
    const columns = Object.entries(resource.fields)
      .filter(([, { readable, metadata }]) => readable && typeof metadata.column === 'number')
      .toSorted(([, a], [, b]) => Number(a.metadata.column) - Number(b.metadata.column))
    const title = columns.find(([, field]) => field.kind === 'text' && !field.enum) ?? columns[0]
    return { ...resource, name, columns: columns.map(([column]) => column), title: title?.[0] ?? '' }
  })
}
