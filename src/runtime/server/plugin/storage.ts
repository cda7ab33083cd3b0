/** Nitro's storages, as plugins find them by name. Handed in when the server starts: where plugins are loaded in `nuxt.config`, there are none. */

/** A driver of unstorage, as far as we look into it. */
export interface Mounted {
  readonly name?: string
  readonly options?: { readonly base?: unknown }
  /** What the driver speaks through, such as a client of Redis. */
  readonly getInstance?: () => unknown
}

/** A storage of unstorage, as far as we look into it. */
export interface Mounts {
  readonly getMount: (key: string) => { readonly base: string, readonly driver: Mounted }
}

let storages: (() => Mounts) | undefined

export function provideStorages(found: (() => Mounts) | undefined): void {
  storages = found
}

/** The driver behind a storage of `nitro.storage`; `undefined` where there is none of the name. */
export function findStorage(name: string): Mounted | undefined {
  if (!storages) return undefined
  const wanted = `${name.replace(/[/\\:]+/g, ':').replace(/^:|:$/g, '')}:`
  const { base, driver } = storages().getMount(wanted)
  return base === wanted ? driver : undefined
}
