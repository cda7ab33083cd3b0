/** Reads what the commands need to know about the app: its packages, its package manager and its tables. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'pathe'

/** An error of the command itself: the command prints only its message, without a stack. */
export class CommandError extends Error {}

/** @throws CommandError if the folder contains no Nuxt app */
export function readPackages(cwd: string): ReadonlySet<string> {
  const file = join(cwd, 'package.json')
  const manifest = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) as Record<string, object | undefined> : {}
  const packages = new Set(Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }))
  if (packages.has('nuxt') || packages.has('nuxt-nightly')) return packages
  throw new CommandError(`${file} has no dependency \`nuxt\`. Run the command in a Nuxt app; \`npm create nuxt@latest\` creates one.`)
}

/** The lock file of each package manager, and its commands. The first one is the default. */
const MANAGERS = [
  { lock: 'package-lock.json', install: 'npm install', dev: '--save-dev', run: 'npx', script: 'npm run' },
  { lock: 'pnpm-lock.yaml', install: 'pnpm add', dev: '-D', run: 'pnpm', script: 'pnpm' },
  { lock: 'yarn.lock', install: 'yarn add', dev: '-D', run: 'yarn', script: 'yarn' },
  { lock: 'bun.lock', install: 'bun add', dev: '-d', run: 'bunx', script: 'bun run' },
  { lock: 'bun.lockb', install: 'bun add', dev: '-d', run: 'bunx', script: 'bun run' },
] as const

export type PackageManager = (typeof MANAGERS)[number]

export const findPackageManager = (cwd: string): PackageManager => MANAGERS.find(({ lock }) => existsSync(join(cwd, lock))) ?? MANAGERS[0]

/** A table or a view. */
export interface Table {
  /** The name of the export. */
  readonly name: string
  readonly isView: boolean
  /** The file without its extension, relative to the folder of the resources. */
  readonly from: string
  /** The code of its definition. */
  readonly source: string
}

/** Where the tables are: the `schema` of `drizzle.config`, otherwise the folder of the guide. */
const DEFAULT_SCHEMA = 'server/database'

const TABLE = /\bexport\s+const\s+([\w$]+)\s*=\s*(?:\w+\.)?(?:\w*[tT]able(?:With\w+)?|(\w*[vV]iew))\s*\(/g

/** Finds the exported tables and views of the schema, without running it. */
export function findTables(cwd: string, resources: string): Table[] {
  return listFiles(join(cwd, schemaOf(cwd))).flatMap((file) => {
    const from = relative(resources, file).replace(/\.[cm]?[jt]s$/, '')
    const source = readFileSync(file, 'utf8')
    const found = [...source.matchAll(TABLE)]
    return found.map(({ 1: name, 2: view, index }, at) =>
      ({ name: name!, isView: view !== undefined, from, source: source.slice(index, found[at + 1]?.index) }))
  })
}

function schemaOf(cwd: string): string {
  const config = ['ts', 'mjs', 'js'].map(extension => join(cwd, `drizzle.config.${extension}`)).find(file => existsSync(file))
  const [, schema] = (config && /\bschema\s*:\s*(?:\[\s*)?['"`]([^'"`*]+)/.exec(readFileSync(config, 'utf8'))) ?? []
  return schema ?? DEFAULT_SCHEMA
}

function listFiles(path: string): string[] {
  if (!existsSync(path)) return []
  if (statSync(path).isFile()) return [path]
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter(name => /\.[cm]?[jt]s$/.test(name) && !name.includes('node_modules'))
    .sort()
    .map(name => join(path, name))
}
