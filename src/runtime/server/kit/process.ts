/** Helpers for code that runs in a server: values or promises, caches by identity, timeouts, ids, logs. */
export { andThen, type Awaitable } from '../core/awaitable'
export { idOf, memoized } from '../core/memoized'
export { logError } from '../core/process/log'
export { createAttached } from '../core/process/request-scoped'
export { withTimeout } from '../core/process/timeout'
export { uuidv7 } from '../core/process/uuid'
export { createLruCache } from '../engines/lru-cache'
export { runAfterResponse } from '../http/after-response'
