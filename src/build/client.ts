/** Adds the Vue part: the query client, the data of the composables, and the types of the resources. */
import { stat } from 'node:fs/promises'
import { addPlugin, addTemplate, addTypeTemplate, isNuxtMajorVersion, updateTemplates, useLogger } from '@nuxt/kit'
import type { Nuxt } from 'nuxt/schema'
import { join } from 'pathe'
import type { AutoApiConfig } from '../runtime/shared/config'
import { nitroVersionOf } from './compat'
import { describeTables, type Descriptions } from './table-descriptions'
import { findConfigWarnings } from './config-checks'
import type { CheckedRegistration } from './registration-keys'
import { generateTypes, typeRoutes, type Endpoint } from './types'
import { generateClient } from './virtual/client'

const CLIENT = 'auto-api/client.ts'
const TYPES = 'types/auto-api.d.ts'

/** The part of Nitro, old or new, that generates types and rebuilds. */
interface Nitro {
  /** The handlers found in the app's files, layers included. */
  scannedHandlers: Endpoint[]
  hooks: { hook: (name: string, listener: (argument: never) => unknown) => unknown }
}

export interface ClientSource {
  readonly registrations: readonly CheckedRegistration[]
  readonly config: AutoApiConfig
  /** Whether the peer dependency of the composables is installed. */
  readonly composables: boolean
}

export function addClient(nuxt: Nuxt, { registrations, config, composables }: ClientSource, resolve: (path: string) => string): void {
  const logger = useLogger('auto-api')
  const files = [
    ...new Set(
      registrations.flatMap(({ imports: { schema, relations } }) => [schema, relations].flatMap(reference => reference?.path ?? [])),
    ),
  ]
  const describe = () =>
    describeTables({
      registrations,
      config,
      rootDir: nuxt.options.rootDir,
      alias: nuxt.options.alias,
      describer: resolve('./runtime/server/schema/describe'),
    }).then((descriptions) => {
      for (const warning of [
        ...descriptions.warnings,
        ...findConfigWarnings(
          registrations.map(({ name }) => name),
          descriptions,
          config,
        ),
      ])
        logger.warn(warning)
      if (descriptions.error === undefined) return descriptions
      // The dev server continues, and describes the tables again when the file changes.
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
          nitro: nitroVersionOf(isNuxtMajorVersion(4, nuxt)).types,
          endpoints: nitro?.scannedHandlers ?? [],
        }),
    },
    { nuxt: true, nitro: true },
  )
  // Last, so that the plugin finds the query client of the app, if it has one.
  if (composables) addPlugin({ src: resolve('./runtime/app/plugin') }, { append: true })

  nuxt.hook('nitro:init', (value) => {
    nitro = value as unknown as Nitro
    nitro.hooks.hook('types:extend', ({ routes }: { routes: Parameters<typeof typeRoutes>[0] }) =>
      typeRoutes(routes, config.prefix, registrations),
    )
    if (!nuxt.options.dev) return

    let lastTimes = readModifiedTimes(files)
    // Nitro rebuilds when a file of the server changes: an endpoint may be new, and a table may have other relations.
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
