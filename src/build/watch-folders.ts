/** Watches folders in development, also folders that do not exist yet. */
import { existsSync, watch, type FSWatcher } from 'node:fs'
import type { Nuxt } from 'nuxt/schema'
import { dirname } from 'pathe'

/**
 * Calls a function shortly after a file in the folders or beside them changes, until Nuxt closes. Does nothing outside development.
 * @param folders without their subfolders
 */
export function watchFolders(nuxt: Nuxt, folders: readonly string[], changed: () => void): void {
  if (!nuxt.options.dev) return
  let timer: NodeJS.Timeout | undefined
  const watchers = new Map<string, FSWatcher>()
  const stop = (folder: string) => {
    watchers.get(folder)?.close()
    watchers.delete(folder)
  }
  const start = () => {
    // A folder that was deleted and created again needs a new watcher.
    for (const folder of watchers.keys()) if (!existsSync(folder)) stop(folder)
    for (const folder of folders.filter(folder => !folder.includes('/node_modules/')).flatMap(withParents)) {
      if (watchers.has(folder)) continue
      const watcher = watch(folder, () => {
        clearTimeout(timer)
        timer = setTimeout(() => {
          start()
          changed()
        }, 100)
      })
      // On Windows, the deletion of a watched folder is an error.
      watchers.set(folder, watcher.on('error', () => stop(folder)))
    }
  }
  start()
  nuxt.hook('close', () => {
    clearTimeout(timer)
    for (const folder of watchers.keys()) stop(folder)
  })
}

/** The folder, if it exists, and its parent. Of parents that do not exist yet, the first one that exists. */
function withParents(folder: string): string[] {
  const parents = [dirname(folder)]
  while (!existsSync(parents.at(-1)!)) parents.push(dirname(parents.at(-1)!))
  return [...existsSync(folder) ? [folder] : [], parents.at(-1)!]
}
