/** Typed placeholder of the generated list of plugins, which is empty here. The build generates the list. Tests replace it. */
import type { ListedPlugin } from '../plugin/contract'
import type { MountedEndpoint } from '../plugin/routes-of'

export function plugins(): readonly ListedPlugin[] {
  return []
}

/** The parts of plugins that ran at build time, as `plugin.part`. */
export const built: readonly string[] = []

/** Loads the app's files with endpoints. */
export async function endpoints(): Promise<readonly MountedEndpoint[]> {
  return []
}

/** The app's own file routes below the prefix, as `METHOD /pattern`: a path without parameter names. */
export const reservedPaths: readonly string[] = []
