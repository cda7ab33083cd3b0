/**
 * Decides whether the admin opens a path: first the middleware of the app, then the server. It runs on the server before the page
 * renders, and in the browser before each navigation. The API checks every request of the page again.
 */
import { toAutoApiError } from '../app/error'
import {
  abortNavigation, adminMiddleware, createError, defineNuxtRouteMiddleware, middlewareFiles, useNuxtApp, useResponseHeader,
} from './nuxt'
import { isPlainPath } from './routes'
import { segmentsOf, useAccessRequest, useAccessState, viewOf } from './state'

type Middleware = ReturnType<typeof defineNuxtRouteMiddleware>

const middleware: Middleware = defineNuxtRouteMiddleware(async (to, from) => {
  const nuxtApp = useNuxtApp()
  const access = useAccessState()
  const request = useAccessRequest()
  // The page contains what this caller can use.
  if (import.meta.server) useResponseHeader('cache-control').value = 'private, no-store'
  if (import.meta.server && !isPlainPath(to.path, to.matched.at(-1)?.path ?? '', segmentsOf(to))) return refuse(404)
  if (adminMiddleware !== undefined) {
    const ofApp = await findMiddleware(nuxtApp, adminMiddleware)
    if (!ofApp) return refuse(500)
    const result = await nuxtApp.runWithContext(() => ofApp(to, from))
    if (result !== undefined && result !== true) return result
  }

  // The server decided about the first page.
  if (import.meta.client && nuxtApp.isHydrating && nuxtApp.payload.serverRendered) return
  // Filters and pages of a list are in the query.
  const isSamePath = import.meta.client && to.path === from.path && to !== from && access.value !== undefined
  if (isSamePath) return
  try {
    const allowed = await request()
    // A path that does not exist and one that the caller cannot open have the same response.
    if (!viewOf(to, allowed)) return await nuxtApp.runWithContext(() => refuse(404))
    access.value = allowed
  }
  catch (error) {
    const { status } = toAutoApiError(error)
    return await nuxtApp.runWithContext(() => refuse(status in STATUS_TEXTS ? status : 500))
  }
})

export default middleware

const STATUS_TEXTS: Readonly<Record<number, string>> = {
  401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found', 429: 'Too Many Requests', 500: 'Internal Server Error',
}

function refuse(status: number) {
  const statusText = STATUS_TEXTS[status]!
  return abortNavigation(createError({ status, statusText, message: statusText, fatal: true }))
}

interface App { readonly _middleware: { readonly named: Readonly<Record<string, Middleware>> } }

/** Finds the middleware as Nuxt does: those that plugins add, then the files. */
async function findMiddleware(nuxtApp: object, name: string): Promise<Middleware | undefined> {
  const { named } = (nuxtApp as App)._middleware
  if (Object.hasOwn(named, name)) return named[name]
  if (Object.hasOwn(middlewareFiles, name)) return (await middlewareFiles[name]!() as { readonly default: Middleware }).default
  console.error(`[auto-api] The middleware \`${name}\` of \`autoAdmin.middleware\` does not exist, so the admin refuses every request.`)
  return undefined
}
