/** Typed stand-in of the h3 door: `h3` on Nuxt 4, `nitro/h3` on Nuxt 5. Only what works the same on both. */
export { createError, defineEventHandler, getResponseHeader, setResponseHeader, setResponseStatus } from 'h3'
export type { EventHandler, EventHandlerRequest, H3Event } from 'h3'
