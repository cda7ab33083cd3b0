/** Typed stand-in of the generated list of plugins: none. Tests replace it; the build generates it. */
import type { ListedPlugin } from '../plugin/contract'

export function plugins(): readonly ListedPlugin[] {
  return []
}

/** Plugins whose `buildSetup` the build has run. */
export const built: readonly string[] = []

/** Routes below the prefix that are files of the app, as `METHOD /shape`. */
export const taken: readonly string[] = []
