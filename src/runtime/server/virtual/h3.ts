/** Typed stand-in of h3: `h3` on Nuxt 4, `nitro/h3` on Nuxt 5. Only exports that both have. */
export { createError, defineEventHandler, getResponseHeader, setResponseHeader, setResponseStatus } from 'h3'
export type { EventHandler, EventHandlerRequest, H3Event } from 'h3'
