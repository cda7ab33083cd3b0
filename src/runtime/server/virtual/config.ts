/** Typed stand-in of the generated configuration: the defaults, outside of a server. */
import type { AutoApiConfig } from '../../shared/config'
import { DEFAULT_CONFIG } from '../../shared/defaults'

export const config: AutoApiConfig = DEFAULT_CONFIG

/** Whether this is a built server. Registrars have no effect outside of one. */
export const server: boolean = false
