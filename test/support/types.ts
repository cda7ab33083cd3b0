/** The resources of the type tests as an app registers them, and the types that the build generates for them. */
import { fileURLToPath } from 'node:url'
import { describeTables } from '../../src/build/table-descriptions.ts'
import { generateTypes } from '../../src/build/types.ts'
import type { CheckedRegistration } from '../../src/build/registration-keys.ts'
import type { AutoApiConfig } from '../../src/runtime/shared/config.ts'
import { DEFAULT_CONFIG, DEFAULT_MULTI_TENANCY } from '../../src/runtime/shared/defaults.ts'
import { drizzleAlias } from './aliases.ts'

const path = (file: string) => fileURLToPath(new URL(file, import.meta.url))

export const typesFile = path('../types/app/auto-api.d.ts')
export const describer = path('../../src/runtime/server/schema/describe')
export const target = path('../../src/runtime/shared/types/resources')
export const config: AutoApiConfig = { ...DEFAULT_CONFIG, multiTenancy: { ...DEFAULT_MULTI_TENANCY } }

const tables = path('../types/app/tables.ts')
const schema = (name: string) => ({ __moduleImport: true as const, path: tables, name })

export const registrations: readonly CheckedRegistration[] = [
  { name: 'writers', imports: { schema: schema('writers') }, data: { hiddenFields: ['secret'], nested: { articlesByRatings: ['link'] } } },
  { name: 'articles', imports: { schema: schema('articles') }, data: { protectedFields: ['views'] } },
  { name: 'labels', imports: { schema: schema('labels'), validation: schema('labelsValidation') }, data: {} },
  { name: 'ratings', imports: { schema: schema('ratings') }, data: {} },
  { name: 'notices', imports: { schema: schema('notices') }, data: { disabled: ['delete', 'purge'], nested: { replies: ['create', 'delete'] } } },
  { name: 'apiTokens', imports: { schema: schema('apiTokens') }, data: {} },
  { name: 'replies', imports: { schema: schema('replies') }, data: { disabled: ['read', 'aggregate', 'update'] } },
  {
    name: 'albums',
    imports: { schema: schema('albums') },
    data: { hiddenFields: ['original'], protectedFields: ['notes', 'cover', 'photos', 'original'] },
  },
  {
    name: 'writerTotals',
    imports: { schema: schema('writerTotals') },
    data: { key: 'writerId', references: { writerId: 'writers' }, disabled: ['aggregate'] },
  },
  { name: 'webhooks', imports: { schema: schema('webhooks') }, data: {} },
  { name: 'webhookDeliveries', imports: { schema: schema('webhookDeliveries') }, data: { disabled: ['create', 'restore'] } },
  { name: 'scans', imports: { schema: schema('scans'), computed: schema('scansComputed') }, data: { protectedFields: ['file'], disabled: ['update'] } },
]

/** The endpoints as Nitro scans them. */
const endpoints = ['report.get', 'report.post', 'articles/[id]/publish.post'].map(file => ({
  route: `/api/${file.replace(/\.\w+$/, '').replace(/\[(\w+)\]/g, ':$1')}`,
  method: /\.(\w+)$/.exec(file)![1]!,
  handler: path(`../types/app/server/api/${file}.ts`),
}))

export const describeFixture = () => describeTables({ registrations, config, rootDir: path('.'), alias: drizzleAlias, describer })

export async function generateFixture(): Promise<string> {
  const { resources } = await describeFixture()
  const augmentations = ['api-tokens', 'webhooks'].map(plugin => path(`../../src/runtime/plugins/${plugin}/shared/types`))
  return generateTypes({
    registrations, resources, config, folder: path('../types/app'), target, augmentations, nitro: 'nitropack/types', endpoints,
  })
}
