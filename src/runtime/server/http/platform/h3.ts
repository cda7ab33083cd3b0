/** What the adapter uses of h3 itself. Only this file imports h3, and only a server can load it. */
import type { H3Event } from '#auto-api/h3'

export { createError, defineEventHandler, type EventHandler, type EventHandlerRequest } from '#auto-api/h3'

/** The event of a request, from the h3 version that Nuxt uses. */
export type ApiEvent = H3Event

declare module '../../registration' {
  interface AutoApiPlatform {
    event: H3Event
  }
}
