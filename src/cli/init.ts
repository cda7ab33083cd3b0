/** `nuxt-auto-api init`: writes the files of the guide "Getting started" into an app. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'pathe'
import { findPackageManager, readPackages, type PackageManager } from './app'
import { addModule } from './nuxt-config'
import { findPackages, findSnippets } from './snippets'

export interface InitOptions {
  readonly cwd: string
  /** The folder of the docs. Its pages contain the files. */
  readonly docs: string
  /** `true` writes nothing. */
  readonly dryRun?: boolean
}

export interface Init {
  /** One line for each file: what happens to it. */
  readonly changes: readonly string[]
  /** The commands that remain, in their order. */
  readonly commands: readonly string[]
}

const CONFIG = 'nuxt.config.ts'
/** A new app has this file already, and its text is only an example. */
const PAGE_OF_APP = 'app/app.vue'

/** @throws CommandError if the folder contains no Nuxt app */
export function init({ cwd, docs, dryRun = false }: InitOptions): Init {
  const installed = readPackages(cwd)
  const read = (page: string) => readFileSync(join(docs, page), 'utf8')
  // Later pages replace files of the same name.
  const pages = [read('1.start/1.getting-started.md'), ...installed.has('pg') ? [read('1.start/3.postgres.md')] : []]
  const snippets = pages.flatMap(findSnippets)
  const files = new Map(snippets.flatMap(({ source, code }) => source === undefined ? [] : [[source, code] as const]))
  const changes = [...files].map(([path, code]) => writeFile(join(cwd, path), path, code, dryRun))
  return { changes, commands: commandsOf(pages, installed, findPackageManager(cwd)) }
}

function writeFile(file: string, path: string, code: string, dryRun: boolean): string {
  const write = (text: string) => {
    if (dryRun) return
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  if (!existsSync(file)) {
    write(code)
    return `created  ${path}`
  }
  if (path !== CONFIG) return `kept     ${path}${path === PAGE_OF_APP ? ' (the guide has an example of a page)' : ''}`
  const source = readFileSync(file, 'utf8')
  const changed = addModule(source, 'nuxt-auto-api')
  if (changed === undefined) return `kept     ${path}: add 'nuxt-auto-api' to its \`modules\` yourself`
  if (changed === source) return `kept     ${path}: it lists 'nuxt-auto-api' already`
  write(changed)
  return `changed  ${path}: added 'nuxt-auto-api' to \`modules\``
}

function commandsOf(pages: readonly string[], installed: ReadonlySet<string>, manager: PackageManager): string[] {
  // With PostgreSQL, the driver of the first page is not necessary.
  const needed = pages.flatMap(findPackages).filter(({ name }) => pages.length === 1 || name !== '@libsql/client')
  const missing = needed.filter(({ name }) => !installed.has(name))
  const namesOf = (dev: boolean) => missing.filter(entry => entry.dev === dev).map(({ spec }) => spec).join(' ')
  return [
    ...namesOf(false) ? [`${manager.install} ${namesOf(false)}`] : [],
    ...namesOf(true) ? [`${manager.install} ${manager.dev} ${namesOf(true)}`] : [],
    `${manager.run} drizzle-kit push`,
    `${manager.script} dev`,
  ]
}
