/** Finds the storages of Nitro by name, for plugins. Code that runs outside of Nitro has no storages. */

/** The properties of an unstorage driver that plugins use. */
export interface StorageDriver {
  readonly name?: string
  readonly options?: { readonly base?: unknown }
  /** The client of the driver, such as a client of Redis. */
  readonly getInstance?: () => unknown
}

/** The methods of an unstorage storage that plugins use. */
export interface StorageMounts {
  readonly getMount: (key: string) => { readonly base: string, readonly driver: StorageDriver }
}

/** Finds the driver of a storage in `nitro.storage`. Returns `undefined` if no storage has the name. */
export type FindStorage = (name: string) => StorageDriver | undefined

export function createFindStorage(useStorage: (() => StorageMounts) | undefined): FindStorage {
  return (name) => {
    if (!useStorage) return undefined
    const expectedBase = `${name.replace(/[/\\:]+/g, ':').replace(/^:|:$/g, '')}:`
    const { base, driver } = useStorage().getMount(expectedBase)
    return base === expectedBase ? driver : undefined
  }
}
