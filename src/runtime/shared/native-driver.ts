/** Explains why Node 20 cannot load better-sqlite3 13, before the driver ends the process. */

type LoadBinary = (module: object, file: string, ...rest: unknown[]) => unknown

interface NodeProcess {
  readonly versions: { readonly node?: string }
  dlopen?: LoadBinary
}

/** Version 12 and older have no such folder. Nitro can add the version to the name of the package. */
const BINARY = /[\\/]better-sqlite3(?:@[^\\/]+)?[\\/]prebuilds[\\/]/

/**
 * better-sqlite3 13 contains a binary for Node 22 and newer. Node 20 loads it and ends with a segmentation fault, without a message. This
 * function makes Node refuse the binary instead. An app that only has the package installed is not affected.
 */
export function guardNativeDriver(node = (globalThis as { process?: NodeProcess }).process): void {
  const load = node?.dlopen
  // Other platforms have no `dlopen`.
  if (!node || !load || !(Number.parseInt(node.versions.node ?? '') < 22)) return
  node.dlopen = (module, file, ...rest) => {
    if (BINARY.test(file))
      throw new Error(
        `[auto-api] better-sqlite3 13 needs Node 22 or newer, and this is Node ${node.versions.node}. `
        + 'Run `npm install better-sqlite3@12`, or use a newer Node.',
      )
    return load.call(node, module, file, ...rest)
  }
}
