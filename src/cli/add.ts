/** `nuxt-auto-api add <resource>`: writes the resource file of a table or of a view. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'pathe'
import { findNameProblem } from '../build/registrations'
import { toMessage } from '../build/problem'
import { didYouMean } from '../runtime/shared/suggest'
import { CommandError, findTables, readPackages, type Table } from './app'

const RESOURCES = 'server/resources'

export interface AddOptions {
  readonly cwd: string
  /** The name of the resource. */
  readonly resource: string
  /**
   * The name of the table's export.
   * @default the name of the resource, in camel case
   */
  readonly table?: string
}

/**
 * Writes the file and returns its path.
 * @throws CommandError if the name is invalid, the file exists, or the schema does not export the table
 */
export function add({ cwd, resource, table = toCamelCase(resource) }: AddOptions): string {
  readPackages(cwd)
  const problem = findNameProblem(resource)
  if (problem) throw new CommandError(toMessage(problem))
  const folder = join(cwd, RESOURCES)
  const path = `${RESOURCES}/${resource}.ts`
  if (existsSync(join(cwd, path))) throw new CommandError(`\`${path}\` exists already, so nothing was changed.`)
  const tables = findTables(cwd, folder)
  const found = tables.find(({ name }) => name === table)
  if (!found) throw new CommandError(toNoTable(table, tables))
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(cwd, path), found.isView ? toViewResource(found) : toResource(resource, found))
  return path
}

const toCamelCase = (name: string) => name.replace(/[-_](\w)/g, (_, letter: string) => letter.toUpperCase())

function toNoTable(table: string, tables: readonly Table[]): string {
  const names = tables.map(({ name }) => name)
  const others = names.length > 0 ? ` The tables are: ${names.map(name => `\`${name}\``).join(', ')}.` : ''
  const instead = didYouMean(table, names) || ' Add it to the schema, or name another export with `--table`.'
  return `The schema does not export a table \`${table}\`.${others}${instead}`
}

/** The command does not run the schema, so it cannot know the key. The build refuses one that is not a column. */
function toViewResource({ name, from }: Table): string {
  return `import { ${name} } from '${from}'

export default defineResource(${name}, {
  // The column that identifies a row, or a list of several: a view has no primary key.
  key: 'id',
  permissions: {
    read: ctx => ctx.user !== null,
  },
})
`
}

/** Nothing is public by default: signed-in callers read, and a permission decides about writes. */
function toResource(resource: string, { name, from }: Table): string {
  return `import { ${name} } from '${from}'

// An operation without a permission is refused. \`true\` allows everybody.
export default defineResource(${name}, {
  permissions: {
    read: ctx => ctx.user !== null,
    create: '${resource}:edit',
    update: '${resource}:edit',
    delete: '${resource}:edit',
  },
})
`
}
