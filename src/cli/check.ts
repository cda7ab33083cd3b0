/** `nuxt-auto-api check`: fails if the configuration has a problem, or if the access matrix is not the one in the repository. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { loadNuxt } from '@nuxt/kit'
import { basename, join } from 'pathe'
import { findConfigNotes, findConfigWarnings } from '../build/config-checks'
import { findStartError } from '../build/role-document'
import { describeTables, inspectTables } from '../build/table-descriptions'
import type { Registered } from '../module'
import type { MissingIndex } from '../runtime/server/schema/inspect'
import { findMatrixChanges, toMarkdown } from '../runtime/shared/access-matrix'
import { CommandError } from './app'

export interface CheckOptions {
  readonly cwd: string
  /**
   * The file of the access matrix, relative to the app.
   * @default 'access-matrix.md'
   */
  readonly matrix?: string
  /** `true` writes the access matrix instead of comparing it. */
  readonly update?: boolean
}

export interface Checked {
  readonly problems: readonly string[]
  /** What can be on purpose. It does not fail the check. */
  readonly notes: readonly string[]
  readonly resources: number
}

const COLUMN_KINDS = { 'foreign key': 'foreign key', 'tenant': 'tenant column', 'deletion': 'column of groups in the trash' }

const DEFAULT_MATRIX = 'access-matrix.md'

/** @throws CommandError if the app cannot be loaded, or does not use the module */
export async function check({ cwd, matrix = DEFAULT_MATRIX, update = false }: CheckOptions): Promise<Checked> {
  const { tables, plugins, warnings } = await loadRegistered(cwd)
  const descriptions = await describeTables(tables)
  const { inspection, error, unloaded } = await inspectTables(tables)
  const ofTables = [descriptions.error, error].flatMap(messages => messages?.split('\n') ?? [])
  // The start would report the errors of tables again.
  const errors = ofTables.length > 0 ? ofTables : [await findStartError(tables, plugins) ?? []].flat()
  const problems = [
    ...warnings,
    ...descriptions.warnings,
    ...new Set(errors),
    ...findConfigWarnings(tables, descriptions),
    ...unloaded,
    ...inspection?.missingIndexes.map(toIndexProblem) ?? [],
  ]
  const checked = { resources: tables.registrations.length, notes: findConfigNotes(tables, descriptions) }
  // With an error there are no resources, and so no access matrix.
  if (!inspection) return { problems, ...checked }
  const text = toMarkdown(inspection.access)
  if (update) writeFileSync(join(cwd, matrix), text)
  return { problems: [...problems, ...findMatrixProblem(join(cwd, matrix), text)], ...checked }
}

function toIndexProblem({ resource, columns, reason }: MissingIndex): string {
  const list = columns.map(name => `\`${name}\``).join(', ')
  const index = `index().on(${columns.map(name => `table.${name}`).join(', ')})`
  return `\`${resource}\`: no index begins with the ${COLUMN_KINDS[reason]} ${list}. Add \`${index}\` to the table.`
}

/** Loads the app without building it. @throws CommandError */
export async function loadRegistered(cwd: string): Promise<Registered> {
  let registered: Registered | undefined
  const nuxt = await loadNuxt({ cwd, ready: false, overrides: { logLevel: 'silent' } })
  try {
    nuxt.hook('autoApi:registered', (value) => {
      registered = value
    })
    await nuxt.ready()
  }
  catch (error) {
    throw new CommandError((error as Error).message)
  }
  finally {
    await nuxt.close()
  }
  if (!registered) throw new CommandError('The app does not use the module. Add \'nuxt-auto-api\' to `modules` in nuxt.config.')
  return registered
}

/** Compares the access matrix with that of the file. */
export function findMatrixProblem(file: string, text: string): string[] {
  const name = basename(file)
  if (!existsSync(file))
    return [
      `\`${name}\`, the access matrix, does not exist yet. It lists who can do what, so that a later check can show what has changed. `
      + 'Run `npx nuxt-auto-api check --update` to write the file, review its rules and commit it.',
    ]
  const changes = findMatrixChanges(readFileSync(file, 'utf8'), text)
  if (changes.length === 0) return []
  const command = 'Review the rules, then run `npx nuxt-auto-api check --update` and commit the file.'
  return [[`\`${name}\`: the access matrix has changed. ${command}`, ...changes.map(change => `  - ${change}`)].join('\n')]
}
