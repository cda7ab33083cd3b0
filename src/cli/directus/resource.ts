/** Writes the resource file of a collection of Directus. */
import type { Table } from '../app'
import { grantsOf, isNarrower, toFieldRule, toFilter, toPermission, type Grant } from './grants'
import { quote, type Columns } from './rows'
import { ACTIONS, type Action, type Policy, type Snapshot } from './snapshot'

/** Fields of Directus without a value in the column, and what the app uses instead. */
const SPECIAL: Readonly<Record<string, string>> = {
  file: 'a file. The column keeps the id of Directus: move the files with the plugin `fileUpload`.',
  files: 'files. Move them with the plugin `fileUpload`.',
  hash: 'a hashed value. The field is in `hiddenFields`; hash new values in a before-hook.',
  m2a: 'a relation to rows of several collections. Add a column for each of them.',
  uuid: 'a generated key. Set `$defaultFn(() => crypto.randomUUID())` in the schema.',
}

const NARROWER = 'Directus decides for each row, and the API for each caller. Callers who have rows without a field do not get it.'

/** Values that the server writes into the column of this property. */
const SERVER_VALUES: Readonly<Record<string, string>> = {
  'date-created': 'createdAt', 'date-updated': 'updatedAt', 'user-created': 'createdBy', 'user-updated': 'updatedBy',
}

/** Fields that Directus keeps from every caller. */
const HIDDEN = ['hash', 'conceal']

export interface ResourceFile {
  readonly text: string
  /** What has no counterpart in the file. */
  readonly notes: readonly string[]
}

export function toResourceFile(
  collection: Snapshot['collections'][number], table: Table, snapshot: Snapshot, policies: readonly Policy[],
): ResourceFile {
  const { collection: name, meta } = collection
  const fields = snapshot.fields.filter(field => field.collection === name)
  const notes: string[] = []
  const propertyOf = (field: string) => findProperty(table.source, field)
  const columns: Columns = {
    columnOf: (field) => {
      const property = fields.some(one => one.field === field && one.schema) ? propertyOf(field) : undefined
      return property === undefined ? undefined : `table.${property}`
    },
    keyOf: field => fields.find(one => one.field === field)?.schema?.foreign_key_column ?? undefined,
  }
  if (meta?.singleton) notes.push('it is a singleton. The API has a list with its one row.')
  if (meta?.archive_field) notes.push(`archived rows (\`${meta.archive_field}\`) are in lists. Filter them, or use the trash.`)
  for (const { field, meta: details, schema } of fields) {
    const property = propertyOf(field)
    for (const kind of details?.special ?? []) {
      const written = SERVER_VALUES[kind]
      if (SPECIAL[kind]) notes.push(`\`${field}\` is ${SPECIAL[kind]}`)
      if (written && property !== written)
        notes.push(`Directus sets \`${field}\`. Name its property \`${written}\` in the schema, and the server sets it.`)
    }
    if (schema && property === undefined) notes.push(`\`${field}\` has no column in the schema \`${table.name}\`.`)
  }
  const grants = Object.fromEntries(ACTIONS.map(action =>
    [action, grantsOf(policies, name, action, columns, text => notes.push(text))])) as Record<Action, Grant[]>
  const own = fields.flatMap(({ field, meta: details, schema }) => {
    const property = schema ? propertyOf(field) : undefined
    return property === undefined ? [] : [{ field, property, special: details?.special ?? [], isKey: schema!.is_primary_key ?? false }]
  })
  const narrower = own.filter(({ field, isKey }) => !isKey && isNarrower(grants.read, field)).map(({ property }) => `\`${property}\``)
  if (narrower.length > 0)
    notes.push(`${narrower.join(', ')}: ${NARROWER}`)
  return { text: toText(table, grants, own), notes }
}

interface Field {
  readonly field: string
  readonly property: string
  readonly special: readonly string[]
  readonly isKey: boolean
}

function toText(table: Table, grants: Readonly<Record<Action, Grant[]>>, fields: readonly Field[]): string {
  const isHidden = ({ special }: Field) => special.some(kind => HIDDEN.includes(kind))
  const rules = fields.filter(({ isKey }) => !isKey).flatMap((field) => {
    const read = isHidden(field) ? undefined : toFieldRule(grants.read, field.field)
    const write = toWriteRule(toFieldRule(grants.create, field.field), toFieldRule(grants.update, field.field))
    const parts = [...read === undefined ? [] : [`read: ${read}`], ...write === undefined ? [] : [`write: ${write}`]]
    return parts.length === 0 ? [] : [`    ${field.property}: { ${parts.join(', ')} },`]
  })
  const hidden = fields.filter(isHidden).map(({ property }) => quote(property))
  const filter = toListFilter(grants)
  const imports = [...new Set(filter?.imports ?? [])].sort()
  const body = [
    '  permissions: {',
    ...ACTIONS.map(action => `    ${action}: ${toPermission(grants[action])},`),
    '  },',
    ...filter?.lines.map(line => `  ${line}`) ?? [],
    ...rules.length > 0 ? ['  fields: {', ...rules, '  },'] : [],
    ...hidden.length > 0 ? [`  hiddenFields: [${hidden.join(', ')}],`] : [],
  ]
  return [
    ...imports.length > 0 ? [`import { ${imports.join(', ')} } from 'drizzle-orm'`] : [],
    `import { ${table.name} } from '${table.from}'`,
    '',
    ...body.some(line => line.includes('nobody')) ? ['/** A condition that no row meets. */', 'const nobody = sql`1 = 0`', ''] : [],
    ...body.some(line => line.includes('has(ctx, '))
      ? [
          'const has = (ctx: { permissions: readonly string[] }, ...policies: string[]) =>',
          '  policies.some(policy => ctx.permissions.includes(policy))',
          '',
        ]
      : [],
    `export default defineResource(${table.name}, {`,
    ...body,
    '})',
    '',
  ].join('\n')
}

/** A create and an update can differ. */
function toWriteRule(create: string | undefined, update: string | undefined): string | undefined {
  if (create === update) return create
  return `ctx => ${[...toAnswer(create, 'create'), ...toAnswer(update, 'update')].join(' && ')}`
}

function toAnswer(rule: string | undefined, operation: string): string[] {
  if (rule === undefined) return []
  const allowed = rule.startsWith('ctx => ') ? `(${rule.slice(7)})` : `has(ctx, ${rule.replace(/^\[|\]$/g, '')})`
  return [`(ctx.operation !== '${operation}' || ${allowed})`]
}

/** Reads decide for every operation without rows of its own. */
function toListFilter(grants: Readonly<Record<Action, Grant[]>>): { lines: string[], imports: string[] } | undefined {
  const [read, update, remove] = [toFilter(grants.read), toFilter(grants.update), toFilter(grants.delete)]
  if (!read && !update && !remove) return undefined
  const branch = (condition: string, filter: ReturnType<typeof toFilter>) =>
    filter ? [`  if (${condition}) {`, ...filter.lines.map(line => `    ${line}`), '  }'] : [`  if (${condition}) return undefined`]
  return {
    lines: [
      'listFilter: (table, ctx) => {',
      ...branch('ctx.operation === \'update\' || ctx.operation === \'restore\'', update),
      ...branch('ctx.operation === \'delete\' || ctx.operation === \'purge\'', remove),
      ...read ? read.lines.map(line => `  ${line}`) : ['  return undefined'],
      '},',
    ],
    imports: [read, update, remove].flatMap(filter => filter?.imports ?? []),
  }
}

/** Finds the property of a column in the source of the table: `createdOn: text('created_on')`, or `title: text()`. */
function findProperty(source: string, column: string): string | undefined {
  const name = column.replace(/[^\w$]/g, '\\$&')
  const [, named] = new RegExp(`([\\w$]+)\\s*:\\s*[\\w.]+\\(\\s*['"\`]${name}['"\`]`).exec(source) ?? []
  return named ?? (new RegExp(`[\\s{,]${name}\\s*:\\s*[\\w.]+\\(`).test(source) ? column : undefined)
}
