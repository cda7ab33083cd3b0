/** A project with many tables, each used by a page, to measure the cost of the types for the compiler. */
import { writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describeTables } from '../../src/build/table-descriptions.ts'
import { generateTypes } from '../../src/build/types.ts'
import { generateClient } from '../../src/build/virtual/client.ts'
import { drizzleAlias } from './aliases.ts'
import { config, describer } from './types.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const COMPILER = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  target: 'esnext',
  module: 'preserve',
  moduleResolution: 'bundler',
  lib: ['esnext', 'dom'],
  types: [],
  noUncheckedIndexedAccess: true,
}

/** A table with twelve columns and a foreign key to the previous table, so that every table has relations in both directions. */
const tableOf = (index: number) => `
export const things${index} = sqliteTable('things${index}', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  ${index > 0 ? `parent${index - 1}Id: integer('parent_id').references(() => things${index - 1}.id),` : ''}
  title: text('title').notNull(), slug: text('slug').notNull(), status: text('status', { enum: ['draft', 'published'] }).notNull().default('draft'),
  featured: integer('featured', { mode: 'boolean' }).notNull().default(false), views: integer('views').notNull().default(0), price: numeric('price'),
  details: text('details', { mode: 'json' }).$type<{ a: string }>(), publishedAt: integer('published_at', { mode: 'timestamp_ms' }),
  createdAt: integer('created_at', { mode: 'timestamp_ms' }).notNull(), deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
})`

/** The code of a page: a list, a record, relations, aggregates and writes. */
const useOf = (index: number) => `
export function page${index}() {
  const list = useAutoApiList('things${index}', () => ({ fields: ['id', 'title'], filter: { status: 'draft', views: { $gt: 1 }, $or: [{ title: { $like: 'x' } }] }, sort: '-publishedAt', page: 1${index > 0 ? `, include: { parent${index - 1}: { fields: ['id'] } }` : ''} }))
  const one = useAutoApiGet('things${index}', 1)
  const count = useAutoApiAggregate('things${index}', { aggregate: ['count', 'sum(views)'], groupBy: ['status'] })
  const create = useAutoApiCreate('things${index}')
  create.mutate({ title: 'x', slug: 'x', publishedAt: new Date() })
  useAutoApiUpdate('things${index}').mutate({ id: 1, title: 'y' })
  return [list.data.value?.data[0]?.title, one.data.value?.createdAt, count.data.value?.data[0]?.sum_views, create.data.value?.price]
}`

/** The code of a page with a form and a table. */
export const formOf = (index: number) => `
export function form${index}() {
  const form = useAutoApiForm('things${index}', { id: 1, defaults: { title: 'x' } })
  form.state.slug = 'x'
  const { columns, sort } = useAutoApiColumns('things${index}', { fields: ['title', 'views'], sort: '-views' })
  return [form.conflict.value?.title, columns.value[0]?.id, sort.value]
}`

/**
 * Writes the project into an existing folder of the repository, where its packages resolve.
 * @param codeOf the code of the page of a table
 * @param runtime the folder of the module's types: its sources, or the declarations that an app installs
 * @param plugins the folders of plugins whose types augment those of the module
 * @throws When a table cannot be described.
 */
export async function writeTypedProject(
  at: string, count: number, codeOf = useOf, runtime = join(root, 'src/runtime'), plugins = ['api-tokens'],
): Promise<void> {
  const tables = join(at, 'tables.ts')
  const numbers = Array.from({ length: count }, (_, index) => index)
  writeFileSync(
    tables,
    `import { integer, numeric, sqliteTable, text } from 'drizzle-orm/sqlite-core'\n${numbers.map(tableOf).join('\n')}\n`,
  )
  const registrations = numbers.map(index => ({
    name: `things${index}`,
    imports: { schema: { __moduleImport: true as const, path: tables, name: `things${index}` } },
    data: {},
  }))
  const { resources, warnings } = await describeTables({ registrations, config, rootDir: root, alias: drizzleAlias, describer })
  if (warnings.length > 0) throw new Error(warnings.join('\n'))
  writeFileSync(
    join(at, 'auto-api.d.ts'),
    generateTypes({
      registrations,
      resources,
      config,
      folder: at,
      target: join(runtime, 'shared/types/resources'),
      augmentations: plugins.map(name => join(runtime, `plugins/${name}/shared/types`)),
      nitro: 'nitropack/types',
      endpoints: [],
    }),
  )
  writeFileSync(join(at, 'client.ts'), generateClient('/api', resources))
  writeFileSync(
    join(at, 'imports.d.ts'),
    'declare module \'#app\' { export type Plugin = object; export const defineNuxtPlugin: (plugin: object) => object, onNuxtReady: (run: () => void) => void, useNuxtApp: () => { isHydrating?: boolean }, useRequestFetch: () => unknown, useRuntimeConfig: () => { app: { baseURL: string } }, useState: <T>(key: string, init: () => T) => { value: T } }\ninterface ImportMeta { server: boolean, client: boolean }\n',
  )
  const names = [
    'useAutoApiList',
    'useAutoApiGet',
    'useAutoApiAggregate',
    'useAutoApiInfinite',
    'useAutoApiCreate',
    'useAutoApiUpdate',
    'useAutoApiForm',
    'useAutoApiColumns',
  ]
  writeFileSync(
    join(at, 'pages.ts'),
    `import { ${names.join(', ')} } from '${relative(at, join(runtime, 'app/index'))}'\n${numbers.map(codeOf).join('\n')}\n`,
  )
  writeFileSync(join(at, 'tsconfig.json'), JSON.stringify({
    compilerOptions: { ...COMPILER, paths: { '#build/auto-api/client': ['./client.ts'] } },
    files: ['pages.ts', 'auto-api.d.ts', 'imports.d.ts'],
  }))
}

/** The same page without the module: it takes the types of the table for each request. */
const plainUseOf = (index: number) => `
export function page${index}() {
  const list = useRequest<{ data: Pick<typeof things${index}.$inferSelect, 'id' | 'title'>[] }>('/api/things${index}', { fields: ['id', 'title'], filter: { status: 'draft', views: { $gt: 1 } }, sort: '-publishedAt', page: 1 })
  const one = useRequest<typeof things${index}.$inferSelect>('/api/things${index}/1')
  const count = useRequest<{ data: { group: Pick<typeof things${index}.$inferSelect, 'status'>, count: number, sum_views: number | null }[] }>('/api/things${index}/aggregate')
  const create = useWrite<typeof things${index}.$inferInsert, typeof things${index}.$inferSelect>('/api/things${index}')
  create.mutate({ title: 'x', slug: 'x', publishedAt: new Date(), createdAt: new Date() })
  useWrite<Partial<typeof things${index}.$inferInsert>, typeof things${index}.$inferSelect>('/api/things${index}/1').mutate({ id: 1, title: 'y' })
  return [list.data.value?.data[0]?.title, one.data.value?.createdAt, count.data.value?.data[0]?.sum_views, create.data.value?.price]
}`

/** Like {@link writeTypedProject}, with pages that do not use the module. */
export function writePlainProject(at: string, count: number): void {
  const numbers = Array.from({ length: count }, (_, index) => index)
  writeFileSync(
    join(at, 'tables.ts'),
    `import { integer, numeric, sqliteTable, text } from 'drizzle-orm/sqlite-core'\n${numbers.map(tableOf).join('\n')}\n`,
  )
  writeFileSync(
    join(at, 'pages.ts'),
    `import { useMutation, useQuery } from '@tanstack/vue-query'
import { ${numbers.map(index => `things${index}`).join(', ')} } from './tables'
const useRequest = <T>(path: string, query?: object) => useQuery({ queryKey: [path, query], queryFn: async () => await (await fetch(path)).json() as T })
const useWrite = <Body, T>(path: string) => useMutation({ mutationFn: async (body: Body) => await (await fetch(path, { method: 'POST', body: JSON.stringify(body) })).json() as T })
${numbers.map(plainUseOf).join('\n')}
`,
  )
  writeFileSync(join(at, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...COMPILER }, files: ['pages.ts'] }))
}
