/** Builds a Worker for Cloudflare, and prints the size of its code and of the parts of it. */
import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Inside the repository, so that Node finds its packages. */
const folder = fileURLToPath(new URL('.output/worker', import.meta.url))
const MAX_BYTES = 1024 ** 2

/** Parts by the paths of their modules in the repository. The first expression that matches counts. */
const PARTS: readonly (readonly [name: string, path: RegExp])[] = [
  ['Drizzle', /node_modules\/drizzle-orm\//],
  ['Zod', /node_modules\/zod\//],
  ['Vue, Nuxt and the page', /node_modules\/(@?vue|@unhead|unhead|nuxt|@nuxt|devalue|@tanstack)[/-]|\.nuxt\/|virtual:nuxt|#build/],
  ['nuxt-auto-api', /src\/runtime\/|auto-api/],
  ['tables', /worker\/server\//],
  ['Nitro, h3 and their packages', /./],
]

/** Code of a module, as the bundle contains it. The app's build writes all of them to `modules.json`. */
interface Part {
  readonly id: string
  readonly code: string
}

/** @throws When the app does not build, or the Worker is too large. */
export function printWorker(resources: number): void {
  writeApp(resources)
  console.info(`building a Worker with ${resources} resources …`)
  const { status, stdout, stderr } = spawnSync('nuxi', ['build', folder], {
    env: { ...process.env, NODE_ENV: 'production', NUXT_TELEMETRY_DISABLED: '1' },
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`The Worker does not build.\n${stdout}\n${stderr}`)
  const modules = JSON.parse(readFileSync(`${folder}/modules.json`, 'utf8')) as Part[]
  const codeOf = new Map(PARTS.map(([name]) => [name, '']))
  for (const { id, code } of modules) {
    const [name] = PARTS.find(([, path]) => path.test(id.replace(root, '')))!
    codeOf.set(name, codeOf.get(name)! + code)
  }
  const built = globSync(`${folder}/.output/server/**/*.mjs`).map(file => readFileSync(file, 'utf8')).join('\n')
  const all = zippedSize(built)
  console.info([
    '| part of the Worker, before it is minified | kB | kB with gzip |',
    '| --- | --: | --: |',
    ...[...codeOf].map(([name, code]) => `| ${name} | ${kilobytes(Buffer.byteLength(code))} | ${kilobytes(zippedSize(code))} |`),
    `| all together, minified | ${kilobytes(Buffer.byteLength(built))} | ${kilobytes(all)} |`,
  ].join('\n'))
  rmSync(folder, { recursive: true })
  if (all > MAX_BYTES) throw new Error(`The Worker has ${kilobytes(all)} kB, more than ${kilobytes(MAX_BYTES)}.`)
}

const zippedSize = (code: string) => gzipSync(code, { level: 9 }).length
const kilobytes = (bytes: number) => (bytes / 1024).toFixed(0)

function writeApp(resources: number): void {
  rmSync(folder, { recursive: true, force: true })
  const names = Array.from({ length: resources }, (_, index) => `table${index}`)
  const columns = `id: integer('id').primaryKey(), title: text('title').notNull(), views: integer('views'),
  at: integer('at', { mode: 'timestamp' })`
  const files = {
    'package.json': '{ "type": "module", "private": true }',
    'app/app.vue': '<template><p>An app</p></template>',
    'nuxt.config.ts': `import { writeFileSync } from 'node:fs'
/** Writes the code of all modules, as the bundle contains it. */
const sizes = { name: 'sizes', generateBundle: (_options, bundle) => writeFileSync('${folder}/modules.json', JSON.stringify(
  Object.values(bundle).flatMap(chunk => Object.entries(chunk.modules ?? {}).map(([id, { code }]) => ({ id, code: code ?? '' }))))) }
export default defineNuxtConfig({
  modules: ['nuxt-auto-api'], compatibilityDate: '2026-01-01', devtools: { enabled: false }, telemetry: false,
  alias: {
    'nuxt-auto-api/database': '${root}src/runtime/server/database', 'nuxt-auto-api/define': '${root}src/runtime/server/define',
    'nuxt-auto-api': '${root}src/module',
  },
  nitro: { preset: 'cloudflare_module', cloudflare: { deployConfig: false, nodeCompat: true }, rollupConfig: { plugins: [sizes] } },
})`,
    'server/schema.ts': `import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
${names.map(name => `export const ${name} = sqliteTable('${name}', { ${columns} })`).join('\n')}`,
    'server/auth.ts': 'export const auth = { permissions: { read: true } }',
    'server/plugins/database.ts': `import { drizzle } from 'drizzle-orm/d1'
import { initializeDatabase } from 'nuxt-auto-api/database'
export default defineNitroPlugin(() => initializeDatabase(event => drizzle(event.context.cloudflare.env.DB), 'd1'))`,
    'modules/resources.ts': `import { createResolver } from '@nuxt/kit'
import { createModuleImport } from 'nuxt-auto-api'
const { resolve } = createResolver(import.meta.url)
export default (_options, nuxt) => {
  nuxt.hook('autoApi:registerSchema', (registry) => {
    for (const name of ${JSON.stringify(names)}) {
      registry.register(name, {
        schema: createModuleImport(resolve('../server/schema'), name),
        authorization: createModuleImport(resolve('../server/auth'), 'auth'),
      })
    }
  })
}`,
  }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(`${folder}/${name}`), { recursive: true })
    writeFileSync(`${folder}/${name}`, `${text}\n`)
  }
}
