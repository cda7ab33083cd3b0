/** What names a record, and how its values look as text. */
import { NESTED_ACTIONS } from '../../shared/nested'
import { countedRelation } from '../../shared/relation-counts'
import type { DescribedField, DescribedResource } from '../../shared/types/description'
import type { Row } from '../../app/any-resource'

/** Whether a record shows a value: its tenant is that of the reader, and a record in the trash has a view of its own. */
export const isShown = ({ readable, role }: DescribedField): boolean => readable && role !== 'tenant' && !role?.startsWith('delet')

/** Fields that usually name a record, best first. */
const TITLES = ['title', 'name', 'label', 'subject', 'filename', 'displayName', 'username', 'email', 'slug']

const isName = ({ readable, lazy, kind, enum: values, primaryKey, role }: DescribedField) =>
  readable && !lazy && kind === 'text' && !values && !primaryKey && role === undefined

/** Returns the field that shows readers which record it is, such as a title. `undefined` if there is only the key. */
export function titleField({ fields }: Pick<DescribedResource, 'fields'>): string | undefined {
  const names = Object.keys(fields).filter(name => isName(fields[name]!) && fields[name]!.references === undefined)
  return TITLES.find(name => names.includes(name)) ?? names[0]
}

/** Returns the id of a row as the API addresses it; `undefined` if the caller cannot read the key. */
export function idOfRow({ primaryKey }: Pick<DescribedResource, 'primaryKey'>, row: Row): string | number | undefined {
  if (primaryKey.length === 0 || primaryKey.some(name => row[name] === undefined)) return undefined
  if (primaryKey.length === 1) return row[primaryKey[0]!] as string | number
  return primaryKey.map(name => encodeURIComponent(String(row[name]))).join(',')
}

/** Returns the name of a record: its title, or the name of its resource with its id. */
export function labelOf(resource: DescribedResource, row: Row): string {
  const field = titleField(resource)
  const title = field === undefined ? undefined : row[field]
  if (typeof title === 'string' && title.trim() !== '') return shorten(title.trim())
  return `${resource.label} ${idOfRow(resource, row) ?? ''}`.trim()
}

/** Returns the label of a field, or of the number of related records. `authorId` shows the name of the author, so it is `Author`. */
export function labelOfField({ fields, relations }: Pick<DescribedResource, 'fields' | 'relations'>, name: string): string {
  if (!Object.hasOwn(fields, name)) return relations[countedRelation(name) ?? '']?.label ?? name
  const { label, references } = fields[name]!
  const relation = references?.relation
  return relation !== undefined && / ids?$/i.test(label) ? relations[relation]?.label ?? label : label
}

/** Returns the relations whose children the caller can edit in the form of a record. A form reads them with the record. */
export function nestedLists({ relations }: DescribedResource, isNew: boolean, isKnown: (resource: string) => boolean) {
  // A new record has no children yet.
  const actions = isNew ? ['create'] as const : NESTED_ACTIONS
  return Object.entries(relations).flatMap(([relation, { target, label, includable, nested = [] }]) =>
    includable && isKnown(target) && actions.some(action => nested.includes(action)) ? [{ relation, target, label }] : [])
}

/** Returns the fields that a request for the name of a record needs. */
export function labelFields(resource: DescribedResource): string[] {
  const title = titleField(resource)
  return [...new Set([...resource.primaryKey, ...title === undefined ? [] : [title]])]
}

export const shorten = (text: string, length = 60) => text.length > length ? `${text.slice(0, length - 1)}…` : text

/** Returns a value as short text, for comparisons and lists of changes. */
export function toText(value: unknown): string {
  if (value === null || value === undefined || value === '') return '—'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Returns the columns that a list shows first: those of the options, else those that say most about a record. */
export function defaultColumns(resource: DescribedResource, chosen?: readonly string[]): string[] {
  const { fields } = resource
  const readable = (name: string) => Object.hasOwn(fields, name) && fields[name]!.readable
  if (chosen && chosen.length > 0) return chosen.filter(readable)
  const title = titleField(resource)
  const rest = Object.keys(fields).filter(name => readable(name) && name !== title && isUseful(fields[name]!))
  const listed = [...title === undefined ? [] : [title], ...rest.sort((a, b) => rank(fields[a]!) - rank(fields[b]!))].slice(0, 6)
  return listed.length > 0 ? listed : Object.keys(fields).filter(name => readable(name) && !fields[name]!.lazy).slice(0, 6)
}

/** Long text and JSON say little in a table, columns of the server repeat on every row, and lazy fields cost much. */
function isUseful({ role, kind, lazy, metadata, primaryKey }: DescribedField): boolean {
  if (lazy) return false
  if (role !== undefined && role !== 'createdAt') return false
  return kind !== 'json' && kind !== 'blob' && metadata.widget !== 'textarea' && !primaryKey
}

/** What a column says about a record, most telling first. */
const TELLING: readonly ((field: DescribedField) => boolean)[] = [
  field => field.enum !== undefined,
  field => field.references !== undefined,
  field => field.kind === 'boolean',
  field => field.kind !== 'text' && field.kind !== 'date',
  field => field.kind === 'date' && field.role === undefined,
  field => field.kind === 'text',
]

function rank(field: DescribedField): number {
  const index = TELLING.findIndex(test => test(field))
  return index === -1 ? TELLING.length : index
}
