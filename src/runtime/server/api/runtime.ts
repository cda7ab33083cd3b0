/** Finds the API that handles a request, and collects the app's extensions of the default API before that API is created. */
import type { Extensions } from '../core/extensions/extensions'
import { createDatabase, type Database } from '../core/replicas/database'
import type { ApiOptions, ServerApi } from './create'
import { createAttached } from '../core/process/request-scoped'

/** The options that a runtime sets for its API. */
export type RuntimeOptions = Required<Pick<ApiOptions, 'database' | 'extend'>>

/** An API that is created on first use. */
export interface Runtime {
  readonly database: Database
  /** Whether the code runs in a server. Registrars throw an error elsewhere. */
  readonly isServer: () => boolean
  /** @throws When the API cannot be created. The next call tries again. */
  readonly api: () => ServerApi
  /** Adds an extension to the API, now or once it is created. */
  readonly extend: (add: (extensions: Extensions) => void) => void
}

type CreateApi = (options: RuntimeOptions) => ServerApi

export function createRuntime(create: CreateApi, isServer = () => true): Runtime {
  const database = createDatabase()
  const additions: ((extensions: Extensions) => void)[] = []
  let api: ServerApi | undefined
  // The extensions of the API, or of the API that is being created: a plugin can add to them while it is set up.
  let target: Extensions | undefined

  function start(): ServerApi {
    try {
      return create({ database, extend(extensions) {
        for (const add of additions) add(extensions)
        target = extensions
      } })
    }
    catch (error) {
      target = undefined
      throw error
    }
  }

  return {
    database,
    isServer,
    api: () => api ??= start(),
    extend(add) {
      if (target) add(target)
      else additions.push(add)
    },
  }
}

let generated: { readonly create: CreateApi, readonly server: boolean } | undefined
let current = createRuntime((options) => {
  if (generated) return generated.create(options)
  throw new Error('[auto-api] The API was used outside of a server.')
}, () => generated?.server === true)
const mounted = createAttached<Runtime>('runtime')

/** Sets the function that creates the default API. Earlier extensions are kept. */
export function provideDefaultApi(create: CreateApi, server: boolean): void {
  generated = { create, server }
}

/** Replaces the default runtime. Registrars, tasks and requests without a mounted runtime use the new one. */
export function setDefaultRuntime(runtime: Runtime): void {
  current = runtime
}

/** Sets the runtime that handles the request of an event, instead of the default runtime. */
export function mountRuntime(event: object, runtime: Runtime): void {
  mounted.set(event, runtime)
}

/** Returns the runtime of a request. Without an event, it returns the default runtime. */
export function useRuntime(event?: unknown): Runtime {
  return mounted.get(event) ?? current
}
