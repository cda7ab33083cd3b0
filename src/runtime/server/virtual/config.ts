/** Typed stand-in of the generated configuration: the defaults, outside of a server. */
import type { AutoApiConfig } from '../../shared/config'
import { DEFAULT_CONFIG } from '../../shared/defaults'

export const config: AutoApiConfig = DEFAULT_CONFIG

/** Whether this is a built server: what registers at run time has no effect anywhere else. */
export const server: boolean = false
