/** Creates the resources of the registered tables at startup, and freezes them. */
import type { AutoApiConfig } from '../../shared/config'
import type { ResourceRegistration } from '../registration'
import { describeForeignKeys } from './drizzle/foreign-keys'
import { describeTable, sourceName, type TableFacts } from './drizzle/table'
import { isTable } from './drizzle/config'
import { toTable } from './drizzle/view'
import { assertScopes, createComputedFields } from './computed'
import { expressionOf } from './drizzle/expression'
import { createFields } from './fields'
import { findKey } from './key'
import { inResource, runChecks } from './mistakes'
import { assertRegistrationNames } from './registration-names'
import type { FieldRules, Resource } from './model'
import { findOwned } from './presets/mark'
import { linkNested } from './nested'
import { linkRelations } from './relations'
import { assertColumnNames, assertRelationNames } from './reserved-names'
import { findRoles, findWritable } from './server-owned'
import { bodySchema } from './validation'
import { assertPartsFit, assertTracked, disabledOf, NOTHING_WRITABLE, rolesInView, withNullableColumns } from './views'

/**
 * @param modules the exports of the files that contain registered tables. They can contain junction tables that are not registered.
 * @throws When a registration cannot become a resource; the message names the resource and what to change.
 */
export function createResources(
  registrations: readonly ResourceRegistration[],
  modules: readonly Record<string, unknown>[],
  config: AutoApiConfig,
): ReadonlyMap<string, Resource> {
  const created = runChecks(registrations.map(registration => () =>
    inResource(registration.name, () => [registration.name, createResource(registration, config)] as const)))
  const resources = new Map(created)
  assertTenantResources(resources, config)
  assertTracked(resources)
  assertScopes(resources)
  linkRelations(resources, registrations, modules, config, (name, schema, key) =>
    Object.freeze(createResource({ name, schema }, config, key)),
  )
  runChecks([...resources.values()].map(resource => () => assertRelationNames(resource)))
  linkNested(resources, registrations)
  for (const resource of resources.values()) Object.freeze(resource)
  return resources
}

/** @param junctionKey the columns that identify a row of a junction table without a primary key */
function createResource(registration: ResourceRegistration, config: AutoApiConfig, junctionKey?: readonly string[]): Resource {
  const { name, schema } = registration
  const table = toTable(schema)
  if (!isTable(table)) {
    const source = registration.from?.schema
    throw new Error(`[auto-api] \`${name}.schema\`${source === undefined ? '' : ` (${source})`} is not a Drizzle table or view.`)
  }
  const tableFacts = describeTable(table)
  const hidden = new Set([
    ...tableFacts.columns.filter(({ column }) => findOwned(column)?.hidden).map(({ name }) => name),
    ...registration.hiddenFields ?? [],
    ...config.hiddenFields.global,
    ...config.hiddenFields.resources[name] ?? [],
  ])
  const [primaryKey, tenant, requireIfMatch, , , , computed] = runChecks([
    () => tableFacts.primaryKey.length === 0 && junctionKey ? junctionKey : findKey(registration, tableFacts, hidden),
    () => tenantField(name, tableFacts, config),
    () => requiresIfMatch(registration, config),
    () => assertRegistrationNames(registration, tableFacts, config),
    () => junctionKey ?? assertColumnNames(name, tableFacts),
    () => assertPartsFit(registration, tableFacts),
    () => createComputedFields(registration, tableFacts),
  ])
  const isView = tableFacts.view !== undefined
  const facts = withNullableColumns(Object.freeze({ ...tableFacts, primaryKey }))
  const stored = createFields(facts, registration.wire)
  const fields = computed.length === 0 ? stored : new Map([...stored, ...computed.map(field => [field.name, field] as const)])
  const roles = isView ? rolesInView(findRoles(tableFacts)) : findRoles(facts)
  const disabled = disabledOf(registration, facts)
  let auth = registration.authorization && Object.freeze(registration.authorization)
  const writable = isView ? NOTHING_WRITABLE : findWritable(facts, roles, tenant, registration.protectedFields ?? [])
  const columns = (names: ReadonlySet<string>) => facts.columns.filter(column => names.has(column.name))
  const fieldsExcept = (names: ReadonlySet<string>) => new Set([...fields.keys()].filter(name => !names.has(name)))
  return {
    name,
    table,
    facts,
    dialect: facts.dialect,
    fields,
    primaryKey: facts.primaryKey.map(key => fields.get(key)!),
    roles: Object.fromEntries(Object.entries(roles).map(([role, key]) => [role, fields.get(key)!])),
    foreignKeys: describeForeignKeys(table),
    ...(tenant && { tenant: fields.get(tenant)! }),
    hidden,
    writable,
    scopes: computed.flatMap(({ column }) => expressionOf(column)!.scopes),
    dropped: { create: fieldsExcept(writable.create), update: fieldsExcept(writable.update) },
    schemas: {
      // The server sets `createdAt` if the client does not send it, so the column is optional.
      create: bodySchema(
        registration.validation?.create,
        'create',
        table,
        columns(writable.create).map(column => (column.name === roles.createdAt ? { ...column, optional: true } : column)),
      ),
      update: bodySchema(registration.validation?.update, 'update', table, columns(writable.update)),
    },
    requireIfMatch,
    readOnly: isView,
    ...registration.tracks && { tracks: Object.freeze([...registration.tracks]) },
    disabled,
    disable: (operations) => {
      for (const operation of operations) disabled.add(operation)
    },
    addFieldRules: (rules) => {
      if (auth) auth = Object.freeze({ ...auth, fields: withRules(rules, auth.fields) })
    },
    get auth() {
      return auth
    },
    ...(registration.hooks && { hooks: Object.freeze(registration.hooks) }),
    relations: new Map(),
    nested: new Map(),
    ...(registration.metadata && { metadata: Object.freeze(registration.metadata) }),
  }
}

/**
 * A column that no response contains needs no form in JSON.
 * @throws For columns of custom types whose values JSON cannot represent; the message names all of them.
 */
export function assertWires(resources: ReadonlyMap<string, Resource>): void {
  const missing = [...resources.values()].flatMap(({ name: resource, fields, hidden }) =>
    [...fields.values()].flatMap(({ name, missingWire }) =>
      missingWire === undefined || hidden.has(name) ? [] : { name, text: `\`${resource}.${name}\` (${missingWire})` }))
  if (missing.length === 0) return
  throw new Error(
    `[auto-api] The values of a custom type have no form in JSON: ${missing.map(({ text }) => text).join(', ')}. `
    + 'Define it with the option `wire` of the registration: '
    + `\`wire: { ${missing[0]!.name}: { encode: value => json, decode: json => value } }\`, or hide the column with \`hiddenFields\`.`,
  )
}

function withRules(rules: FieldRules, own: FieldRules = {}): FieldRules {
  const added = Object.entries(rules).map(([name, rule]) => [name, { ...rule, ...own[name] }] as const)
  return { ...own, ...Object.fromEntries(added) }
}

/** @throws If no response has a tag that a client could send. */
function requiresIfMatch({ name, requireIfMatch = false }: ResourceRegistration, { http }: AutoApiConfig): boolean {
  if (requireIfMatch && !http.etag)
    throw new Error(`[auto-api] \`${name}.requireIfMatch\` is true, but \`autoApi.http.etag\` is false: clients cannot get the tags.`)
  return requireIfMatch
}

function tenantField(name: string, facts: TableFacts, { multiTenancy }: AutoApiConfig): string | undefined {
  if (!multiTenancy || !multiTenancy.enabled || multiTenancy.excludedResources.includes(name)) return undefined
  const { tenantIdField, scopedResources } = multiTenancy
  const column = facts.columns.find(column => column.name === tenantIdField)
  // The build warns about such a table. A view usually shows rows of tables that have the column.
  if (!column && facts.view)
    throw new Error(
      `[auto-api] \`${name}\`: ${sourceName(facts)} has no column \`${tenantIdField}\`, so each tenant would see the rows of all tenants. `
      + `Select the column in the view, or add \`'${name}'\` to \`multiTenancy.excludedResources\`.`,
    )
  if (scopedResources === '*') return column?.name
  if (!scopedResources.includes(name)) return undefined
  if (!column)
    throw new Error(
      `[auto-api] \`multiTenancy.scopedResources\` lists \`${name}\`, but ${sourceName(facts)} has no column \`${tenantIdField}\`. `
      + 'Add the column, or remove the resource from the list.',
    )
  return column.name
}

function assertTenantResources(resources: ReadonlyMap<string, Resource>, { multiTenancy }: AutoApiConfig): void {
  if (!multiTenancy) return
  const { scopedResources, excludedResources } = multiTenancy
  for (const [option, names] of Object.entries({ scopedResources: scopedResources === '*' ? [] : scopedResources, excludedResources })) {
    const unknown = names.find(name => !resources.has(name))
    if (unknown) throw new Error(`[auto-api] \`multiTenancy.${option}\` lists \`${unknown}\`, which is not a registered resource.`)
  }
}
