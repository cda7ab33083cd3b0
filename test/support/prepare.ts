/**
 * Prepares the apps of the repository: their generated types, and the TypeScript settings that tests, type checks and the build read. All
 * commands share the result. An app is prepared again when one of the files it is made of has changed.
 *
 *     node test/support/prepare.ts [app …]     without a name, those that the tier reads
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { hashOf, makeOnce, root } from './once.ts'
import { isFull } from './tiers.ts'

/** An app of the repository, and the generated file that other commands read. */
interface App {
  readonly folder: string
  readonly file: string
  readonly command: readonly string[]
}

const app = (folder: string, file = `${folder}/.nuxt/tsconfig.json`): App => ({ folder, file, command: ['nuxi', 'prepare', folder] })

/** Those that tests read come first. */
const APPS: readonly App[] = [
  { folder: '.', file: '.nuxt/tsconfig.json', command: ['nuxt-module-build', 'prepare'] },
  app('playground', 'playground/.nuxt/tsconfig.server.json'),
  app('test/fixtures/better-auth', 'test/fixtures/better-auth/.nuxt/file/tsconfig.server.json'),
  app('test/fixtures/auth-utils'),
  app('test/fixtures/forms'),
  app('test/fixtures/admin'),
]

/** The apps whose generated files tests read. */
export const TESTED = ['.', 'playground', 'test/fixtures/better-auth']

/** The fixtures that are type-checked in the full tier. */
const FIXTURES = ['test/fixtures/auth-utils', 'test/fixtures/better-auth', 'test/fixtures/forms', 'test/fixtures/admin']

/** The apps whose types the tier checks. */
export const CHECKED = ['.', 'playground', ...isFull ? FIXTURES : []]

/** What every app is made of, besides its own folder. */
const SHARED = ['src', 'nuxt.config.ts', 'test/support/aliases.ts', 'package.json', 'package-lock.json']

/** @throws With the output of the command that failed. */
export async function prepare(names: readonly string[] = [...TESTED, ...CHECKED]): Promise<void> {
  const unknown = names.find(name => !APPS.some(({ folder }) => folder === name))
  if (unknown !== undefined) throw new Error(`There is no app ${unknown}. The apps are ${APPS.map(({ folder }) => folder).join(', ')}.`)
  const waiting = APPS.filter(({ folder }) => names.includes(folder))
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await prepareApp(next)
  }
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), 4) }, work))
}

async function prepareApp({ folder, file, command: [name, ...args] }: App): Promise<void> {
  const key = hashOf(folder === '.' ? SHARED : [...SHARED, folder])
  await makeOnce(join(root, dirname(file)), key, async () => {
    const child = spawn(name!, args, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NUXT_TELEMETRY_DISABLED: '1' },
      shell: process.platform === 'win32',
    })
    let printed = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => printed += chunk)
    const [status] = await once(child, 'close')
    if (status !== 0) throw new Error(`${[name, ...args].join(' ')} failed.\n${printed}`)
  })
}

if (import.meta.main) {
  const began = Date.now()
  await prepare(process.argv.length > 2 ? process.argv.slice(2) : undefined)
  console.log(`prepared in ${Math.round((Date.now() - began) / 1000)} s`)
}
