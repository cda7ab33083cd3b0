/** Creates APIs and sessions, for plugins that describe the API to other callers. */
export { createApi } from '../api/create'
export { useRuntime } from '../api/runtime'
export { openSessionAs } from '../core/request/open-session'
