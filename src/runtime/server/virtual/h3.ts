/** Typed placeholder of h3. The build replaces it by the h3 of the app's Nuxt. It exports only names that each version has. */
export { createError, defineEventHandler } from 'h3'
export type { EventHandler, EventHandlerRequest, H3Event } from 'h3'
