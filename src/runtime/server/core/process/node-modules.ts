/** Modules of Node that a platform may lack. A bundler sees no import, so the code also loads where they do not exist. */
import type * as AsyncHooks from 'node:async_hooks'
import type * as Diagnostics from 'node:diagnostics_channel'

const { process } = globalThis as { process?: { readonly getBuiltinModule?: (name: string) => object | undefined } }

const load = (name: string): unknown => process?.getBuiltinModule?.(name)

export const LOADED = {
  diagnostics: load('node:diagnostics_channel') as Pick<typeof Diagnostics, 'tracingChannel' | 'subscribe' | 'unsubscribe'> | undefined,
  AsyncLocalStorage: (load('node:async_hooks') as Partial<typeof AsyncHooks> | undefined)?.AsyncLocalStorage,
}
