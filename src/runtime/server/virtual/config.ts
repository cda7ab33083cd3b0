/** Typed placeholder of the generated configuration. It contains the defaults, for code outside of a server. */
import type { AutoApiConfig } from '../../shared/config'
import { DEFAULT_CONFIG } from '../../shared/defaults'

export const config: AutoApiConfig = DEFAULT_CONFIG

/** The part of the app's base URL that the path of an event contains. */
export const eventBase: string = ''

/** The paths of pages below the prefix. `/*` at the end stands for every path that begins like this. */
export const pagesBelow: readonly string[] = []

/** Whether this is a built server. Registrars throw an error outside of a server. */
export const server: boolean = false
