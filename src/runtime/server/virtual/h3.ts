/** Typed placeholder of h3: the build uses `h3` on Nuxt 4 and `nitro/h3` on Nuxt 5. It exports only names that both have. */
export { createError, defineEventHandler, getRequestHeader, getResponseHeader, setResponseHeader, setResponseStatus } from 'h3'
export type { EventHandler, EventHandlerRequest, H3Event } from 'h3'
