/** What resources cost the build: the same app with 200 of them over one file, with one, and with none. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { median } from './measure.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Inside the checkout: packages are found from there. */
const FOLDER = fileURLToPath(new URL('.output/builds', import.meta.url))
const TABLES = 200
const REGISTERED = [0, 1, TABLES]
const ROUNDS = 5

/** Five builds of each in turns; prints the medians, and what the resources added. @throws When an app does not build. */
export function compareBuilds(): void {
  installPackage()
  const apps = REGISTERED.map(resources => ({ resources, folder: writeApp(resources), seconds: [] as number[] }))
  // Once unmeasured: the first build fills the caches of the machine.
  for (const { folder } of apps) build(folder)
  for (let round = 0; round < ROUNDS; round++) {
    for (const { folder, seconds } of round % 2 === 0 ? apps : apps.toReversed()) seconds.push(build(folder))
  }
  const [without] = apps
  console.info(['| resources | seconds, median of 5 | more than without |', '| --: | --: | --: |', ...apps.map(({ resources, seconds }) =>
    `| ${resources} | ${median(seconds).toFixed(2)} | ${(median(seconds) - median(without!.seconds)).toFixed(2)} |`)].join('\n'))
  rmSync(FOLDER, { recursive: true })
}

/** As an app gets it from npm: sources would be transformed by the app's own build. */
function installPackage(): void {
  const target = `${FOLDER}/node_modules/nuxt-auto-api`
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(target, { recursive: true })
  const built = existsSync(`${ROOT}/dist`)
  run('npm', ['pack', '--pack-destination', FOLDER], ROOT)
  if (!built) rmSync(`${ROOT}/dist`, { recursive: true, force: true })
  run('tar', ['-xzf', `${FOLDER}/${readdirSync(FOLDER).find(name => name.endsWith('.tgz'))}`, '-C', target, '--strip-components', '1'], ROOT)
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env: { ...process.env, NODE_ENV: 'production', NUXT_TELEMETRY_DISABLED: '1' }, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed\n${stdout}\n${stderr}`)
}

function build(folder: string): number {
  for (const made of ['.nuxt', '.output']) rmSync(`${folder}/${made}`, { recursive: true, force: true })
  const start = performance.now()
  run('nuxi', ['build', folder], ROOT)
  return (performance.now() - start) / 1000
}

function writeApp(resources: number): string {
  const folder = `${FOLDER}/app${resources}`
  const files = {
    'package.json': '{ "type": "module", "private": true }',
    'app/app.vue': '<template><p>An app</p></template>',
    'nuxt.config.ts': `export default defineNuxtConfig({ modules: ['nuxt-auto-api'], compatibilityDate: '2026-01-01', devtools: { enabled: false }, telemetry: false })`,
    'server/schema.ts': `import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
${Array.from({ length: TABLES }, (_, index) => `export const table${index} = sqliteTable('table${index}', { id: integer('id').primaryKey(), title: text('title').notNull(), views: integer('views'), at: integer('at', { mode: 'timestamp' }) })`).join('\n')}`,
    'server/auth.ts': 'export const auth = { permissions: { read: true } }',
    // The database is the app's own: it is there with and without resources.
    'server/plugins/database.ts': `import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import * as schema from '../schema'
export default defineNitroPlugin(() => initializeDatabase(drizzle({ client: new Database(':memory:'), schema }), 'better-sqlite3'))`,
    'modules/resources.ts': `import { createResolver } from '@nuxt/kit'
import { createModuleImport } from 'nuxt-auto-api'
const { resolve } = createResolver(import.meta.url)
export default (_options, nuxt) => {
  nuxt.hook('autoApi:registerSchema', (registry) => {
    for (let index = 0; index < ${resources}; index++) registry.register('table' + index, { schema: createModuleImport(resolve('../server/schema'), 'table' + index), authorization: createModuleImport(resolve('../server/auth'), 'auth') })
  })
}`,
  }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(`${folder}/${name}`.replace(/\/[^/]+$/, ''), { recursive: true })
    writeFileSync(`${folder}/${name}`, `${text}\n`)
  }
  return folder
}
