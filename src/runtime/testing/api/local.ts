/** The servers of the APIs that run in this process. */
import type { ServerApi } from '../../server/api/create'

const servers = new WeakMap<object, ServerApi>()

/** Remembers the server of a test's API. */
export const rememberServer = (api: object, server: ServerApi): void => void servers.set(api, server)

/** Returns the server of a test's API, if it runs in this process. */
export const findServer = (api: object): ServerApi | undefined => servers.get(api)
