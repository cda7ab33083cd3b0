/** The rules for resources of views: nobody writes to them, they have no foreign keys, and no commit says that their rows changed. */
import { WRITE_OPERATIONS, type Operation } from '../../shared/operations'
import { didYouMean } from '../../shared/suggest'
import type { ResourceRegistration } from '../registration'
import type { ForeignKeyFacts } from './drizzle/foreign-keys'
import type { TableFacts } from './drizzle/table'
import { runChecks } from './mistakes'
import type { FieldRules, Resource } from './model'
import type { findRoles, WritableColumns } from './server-owned'

const NONE: ReadonlySet<string> = new Set()

/** No client and no hook can write a column. */
export const NOTHING_WRITABLE: WritableColumns = Object.freeze({ create: NONE, update: NONE })

export const disabledOf = ({ disabled = [] }: ResourceRegistration, { view }: TableFacts): Set<Operation> =>
  new Set(view ? [...disabled, ...WRITE_OPERATIONS] : disabled)

/** A view can show the trash of its table. Its other columns have no role, because the server does not write them. */
export const rolesInView = ({ deletedAt }: ReturnType<typeof findRoles>): ReturnType<typeof findRoles> => deletedAt ? { deletedAt } : {}

/**
 * A column that a view selects can be NULL although its table says `notNull()`, for example after a left join. The key identifies each
 * row, so it never is.
 */
export function withNullableColumns(facts: TableFacts): TableFacts {
  const { view, columns, primaryKey } = facts
  if (view !== 'selected') return facts
  const withNull = columns.map(column =>
    primaryKey.includes(column.name) ? column : Object.freeze({ ...column, nullable: true, optional: true }))
  return Object.freeze({ ...facts, columns: withNull })
}

const READ_HOOKS: ReadonlySet<string> = new Set(['beforeGet', 'afterGet', 'beforeList', 'afterList'])

/**
 * Refuses the parts of a registration that would have no effect.
 * @throws An error with every such part.
 */
export function assertPartsFit(registration: ResourceRegistration, { view }: TableFacts): void {
  const { name, authorization: { permissions = {}, fields = {}, softDelete } = {}, hooks = {}, computed = {}, ...parts } = registration
  const unfit = view
    ? [
        ...(['validation', 'protectedFields', 'requireIfMatch'] as const).filter(key => isSet(parts[key])),
        ...isSet(softDelete) ? ['authorization.softDelete'] : [],
        ...WRITE_OPERATIONS.filter(operation => isSet(permissions[operation])).map(operation => `authorization.permissions.${operation}`),
        ...writeRules(fields),
        ...Object.keys(hooks).filter(hook => !READ_HOOKS.has(hook)).map(hook => `hooks.${hook}`),
      ]
    : (['tracks', 'references'] as const).filter(key => isSet(parts[key]))
  const why = view ? 'a view is read-only' : 'only the registration of a view has it'
  const ruled = Object.entries(fields).filter(([field]) => !view && Object.hasOwn(computed, field))
  const ofComputed = writeRules(Object.fromEntries(ruled)).map(part => [part, 'a computed field is read-only'])
  runChecks([...unfit.map(part => [part, why]), ...ofComputed].map(([part, why]) => () => {
    throw new Error(`[auto-api] \`${name}.${part}\` has no effect, because ${why}. Remove it.`)
  }))
}

const writeRules = (fields: FieldRules): readonly string[] => Object.entries(fields).flatMap(([field, rule]) =>
  (['write', 'reference'] as const).filter(key => isSet(rule?.[key])).map(key => `authorization.fields.${field}.${key}`))

const isSet = (value: unknown) => value !== undefined && value !== false

/**
 * Refuses names in `tracks` that are no resources with commits.
 * @throws An error with every such name.
 */
export function assertTracked(resources: ReadonlyMap<string, Resource>): void {
  const lists = [...resources.values()].flatMap(({ name, tracks = [], fields }) => [
    { at: name, tracks }, ...[...fields.values()].map(field => ({ at: `${name}.computed.${field.name}`, tracks: field.tracks ?? [] })),
  ])
  runChecks(lists.flatMap(({ at, tracks }) => tracks.map(tracked => () => {
    const where = `[auto-api] \`${at}.tracks\` names \`${tracked}\`, which is`
    const resource = resources.get(tracked)
    if (!resource) throw new Error(`${where} not a registered resource.${didYouMean(tracked, [...resources.keys()])}`)
    if (resource.readOnly) throw new Error(`${where} a view. Name the resources of the tables that it reads.`)
  })))
}

/**
 * Returns the option `references` of each view as foreign keys, for the relations.
 * @throws If a column references a resource that is not registered, or one whose key has several columns.
 */
export function referencesOfViews(
  resources: ReadonlyMap<string, Resource>, registrations: readonly ResourceRegistration[],
): readonly ForeignKeyFacts[] {
  return runChecks(registrations.flatMap(({ name, references = {} }) => Object.entries(references).map(([column, to]) => () => {
    const where = `[auto-api] \`${name}.references.${column}\` names \`${to}\`,`
    const target = resources.get(to)
    if (!target) throw new Error(`${where} which is not a registered resource.${didYouMean(to, [...resources.keys()])}`)
    if (target.primaryKey.length !== 1)
      throw new Error(`${where} whose key has several columns. Declare the relation with Drizzle, as \`${name}.relations\`.`)
    return Object.freeze({
      table: resources.get(name)!.table,
      columns: [column],
      foreignTable: target.table,
      foreignColumns: target.primaryKey.map(({ name }) => name),
      onDelete: 'no action' as const,
      onUpdate: 'no action' as const,
    })
  })))
}
