/** Finds the storages of Nitro by name, for plugins. Outside of a server there are none. */

/** The parts of a driver of unstorage that plugins use. */
export interface Mounted {
  readonly name?: string
  readonly options?: { readonly base?: unknown }
  /** The client of the driver, such as a client of Redis. */
  readonly getInstance?: () => unknown
}

/** The parts of a storage of unstorage that plugins use. */
export interface Mounts {
  readonly getMount: (key: string) => { readonly base: string, readonly driver: Mounted }
}

/** The driver of a storage in `nitro.storage`; `undefined` where no storage has the name. */
export type FindStorage = (name: string) => Mounted | undefined

export function createFindStorage(useStorage: (() => Mounts) | undefined): FindStorage {
  return (name) => {
    if (!useStorage) return undefined
    const wanted = `${name.replace(/[/\\:]+/g, ':').replace(/^:|:$/g, '')}:`
    const { base, driver } = useStorage().getMount(wanted)
    return base === wanted ? driver : undefined
  }
}
