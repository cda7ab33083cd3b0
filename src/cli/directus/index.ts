/** `nuxt-auto-api import directus <snapshot.json>`: writes a resource file for each collection, with the rules of its policies. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'pathe'
import { findNameProblem } from '../../build/registrations'
import { findTables, readPackages, type Table } from '../app'
import { toResourceFile } from './resource'
import { quote } from './rows'
import { readPolicies, readSnapshot, SYSTEM, type Policy } from './snapshot'

const RESOURCES = 'server/resources'
const POLICIES = 'server/utils/policies.ts'

export interface ImportDirectusOptions {
  readonly cwd: string
  /** The file of the snapshot. */
  readonly snapshot: string
  /** The file of the policies. Without it, the resources refuse every request. */
  readonly policies?: string
  /** `true` writes nothing. */
  readonly dryRun?: boolean
}

export interface Imported {
  /** One line for each file: what happens to it. */
  readonly changes: readonly string[]
  /** What could not be carried over, each with the name of its collection. */
  readonly notes: readonly string[]
}

/** @throws CommandError if a file is missing or is not one of Directus, or if the folder contains no Nuxt app */
export function importDirectus({ cwd, snapshot: file, policies: policiesFile, dryRun = false }: ImportDirectusOptions): Imported {
  readPackages(cwd)
  const snapshot = readSnapshot(file)
  const all = policiesFile === undefined ? [] : readPolicies(policiesFile)
  const policies = all.filter(({ isForAddresses }) => !isForAddresses)
  const tables = findTables(cwd, join(cwd, RESOURCES))
  const changes: string[] = []
  const notes: string[] = []
  if (policiesFile === undefined) notes.push('A snapshot has no policies, so every request is refused. Name their file with `--policies`.')
  const write = (path: string, text: string) => {
    const exists = existsSync(join(cwd, path))
    changes.push(`${exists ? 'kept   ' : 'created'}  ${path}`)
    if (exists || dryRun) return
    mkdirSync(dirname(join(cwd, path)), { recursive: true })
    writeFileSync(join(cwd, path), text)
  }
  for (const collection of snapshot.collections.filter(({ collection, schema }) => schema && !collection.startsWith(SYSTEM))) {
    const name = toResourceName(collection.collection)
    const table = tables.find(table => sqlNameOf(table) === collection.collection)
    const problem = findNameProblem(name)
    if (!table) {
      notes.push(`${collection.collection}: the schema has no such table. Run \`npx drizzle-kit pull\`, and then this command again.`)
      continue
    }
    if (problem) {
      notes.push(`${collection.collection}: \`${name}\` cannot be the name of a resource. Add it by hand.`)
      continue
    }
    const resource = toResourceFile(collection, table, snapshot, policies)
    write(`${RESOURCES}/${name}.ts`, resource.text)
    notes.push(...resource.notes.map(note => `${collection.collection}: ${note}`))
  }
  if (policies.length > 0) write(POLICIES, toPoliciesFile(policies))
  notes.push(...all.filter(({ isForAddresses }) => isForAddresses).map(({ name }) =>
    `The policy \`${name}\` is limited to client addresses, so it was left out.`))
  notes.push(...policies.filter(({ hasUsers }) => hasUsers).map(({ name }) =>
    `The policy \`${name}\` is given to single users. Add it to their permissions.`))
  if (policies.some(({ permissions }) => permissions.some(({ action }) => action === 'share'))) notes.push('Shares: the API has none.')
  return { changes, notes }
}

/** The name in the path: `blog_posts` becomes `blog-posts`. */
const toResourceName = (collection: string) => collection.replaceAll('_', '-')

const sqlNameOf = ({ source }: Table) => /\(\s*['"`]([^'"`]+)/.exec(source)?.[1]

/** The permissions of each role, for the middleware that sets the caller. */
function toPoliciesFile(policies: readonly Policy[]): string {
  const roles = [...new Set(policies.flatMap(({ roles }) => roles))].sort()
  const namesOf = (role: string) =>
    policies.filter(policy => policy.roles.includes(role)).map(({ name, isAdmin }) => quote(isAdmin ? '*' : name))
  return `/** The permissions of each role: the names of its policies in Directus. \`'*'\` allows everything. */
export const POLICIES: Readonly<Record<string, readonly string[]>> = {
${roles.map(role => `  ${/^[a-z_$][\w$]*$/i.test(role) ? role : quote(role)}: [${namesOf(role).join(', ')}],`).join('\n')}
}
`
}
