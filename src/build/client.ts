/** Adds the Vue plugin with the query client, the data that the composables read, and the generated types of the resources. */
import { stat } from 'node:fs/promises'
import { addPlugin, addTemplate, addTypeTemplate, isNuxtMajorVersion, updateTemplates, useLogger } from '@nuxt/kit'
import type { Nuxt } from 'nuxt/schema'
import { join } from 'pathe'
import { SLICES } from '../runtime/plugins/slices'
import { nitroVersionOf } from './compat'
import { describeTables, type Descriptions, type TableSource } from './table-descriptions'
import { findConfigNotes, findConfigWarnings } from './config-checks'
import { generateTypes, typeRoutes, type Endpoint } from './types'
import { generateClient } from './virtual/client'

const CLIENT = 'auto-api/client.ts'
const TYPES = 'types/auto-api.d.ts'

/** The properties of Nitro 2 and Nitro 3 that this file uses to generate types and to react to rebuilds. */
interface Nitro {
  /** The handlers that Nitro finds in the files of the app and of its layers. */
  scannedHandlers: Endpoint[]
  hooks: { hook: (name: string, listener: (argument: never) => unknown) => unknown }
}

export interface ClientSource {
  readonly tables: TableSource
  /** Whether `@tanstack/vue-query`, the peer dependency of the composables, is installed. */
  readonly composables: boolean
  /** The names of the plugins that nuxt.config lists. */
  readonly plugins: readonly string[]
}

export function addClient(nuxt: Nuxt, { tables, composables, plugins }: ClientSource, resolve: (path: string) => string): void {
  const { registrations, config } = tables
  const logger = useLogger('auto-api')
  const files = [
    ...new Set(
      registrations.flatMap(({ imports: { schema, relations } }) => [schema, relations].flatMap(reference => reference?.path ?? [])),
    ),
  ]
  const describe = () =>
    describeTables(tables).then((descriptions) => {
      for (const warning of [...descriptions.warnings, ...findConfigWarnings(tables, descriptions)]) logger.warn(warning)
      for (const note of findConfigNotes(tables, descriptions)) logger.info(note)
      if (descriptions.error === undefined) return descriptions
      // The dev server continues after an error. It describes the tables again when a file changes.
      if (!nuxt.options.dev) throw new Error(descriptions.error)
      logger.error(descriptions.error)
      return descriptions
    })
  let nitro: Nitro | undefined
  let described: Promise<Descriptions> | undefined
  const resources = async () => (await (described ??= describe())).resources

  addTemplate({ filename: CLIENT, write: true, getContents: async () => generateClient(config.prefix, await resources()) })
  addTypeTemplate(
    {
      filename: TYPES,
      getContents: async () =>
        generateTypes({
          registrations,
          resources: await resources(),
          config,
          folder: join(nuxt.options.buildDir, 'types'),
          target: resolve('./runtime/shared/types/resources'),
          augmentations: SLICES
            .filter(({ folder, augments }) => augments === 'all' || (augments === 'listed' && plugins.includes(folder)))
            .map(({ folder }) => resolve(`./runtime/plugins/${folder}/shared/types`)),
          nitro: nitroVersionOf(isNuxtMajorVersion(4, nuxt)).types,
          endpoints: nitro?.scannedHandlers ?? [],
        }),
    },
    { nuxt: true, nitro: true },
  )
  // The plugin runs last, so that it can detect a query client of the app. It then creates none.
  if (composables) {
    addPlugin({ src: resolve('./runtime/app/plugin') }, { append: true })
    for (const { folder, startsInBrowser } of SLICES)
      if (startsInBrowser && plugins.includes(folder))
        addPlugin({ src: resolve(`./runtime/plugins/${folder}/app/plugin`), mode: 'client' }, { append: true })
  }

  nuxt.hook('nitro:init', (value) => {
    nitro = value as unknown as Nitro
    nitro.hooks.hook('types:extend', async ({ routes }: { routes: Parameters<typeof typeRoutes>[0] }) =>
      typeRoutes(routes, config.prefix, registrations, await resources()),
    )
    if (!nuxt.options.dev) return

    let lastTimes = readModifiedTimes(files)
    // Nitro rebuilds when a server file changes. The change can add an endpoint or change the relations of a table.
    nitro.hooks.hook('dev:reload', async () => {
      const [before, now] = [await lastTimes, await (lastTimes = readModifiedTimes(files))]
      if (before !== now) described = undefined
      await updateTemplates({ filter: ({ filename }) => filename === CLIENT || filename === TYPES })
    })
  })
}

async function readModifiedTimes(files: readonly string[]): Promise<string> {
  return (await Promise.all(files.map(file => stat(file).then(({ mtimeMs }) => mtimeMs, () => 0)))).join()
}
