/** Adds the page of the admin, which handles every path below its prefix, and the middleware that asks the server who can open it. */
import { readFileSync } from 'node:fs'
import { addRouteMiddleware, extendPages } from '@nuxt/kit'
import type { Nuxt } from 'nuxt/schema'
import { didYouMean } from '../../runtime/shared/suggest'
import { assertNoProblems } from '../problem'
import { findCachedPaths, type RouteRules } from '../route-rules'
import type { ResolvedAdmin } from './options'

const MIDDLEWARE = 'auto-admin'

export function addAdminPage(
  nuxt: Nuxt, { prefix, middleware, config }: ResolvedAdmin, resolve: (path: string) => string, warn: (warning: string) => void,
): void {
  addRouteMiddleware({ name: MIDDLEWARE, path: resolve('./runtime/admin/middleware') })
  extendPages((pages) => {
    pages.push({
      name: MIDDLEWARE,
      path: `${prefix}/:path(.*)*`,
      file: resolve('./runtime/admin/shell.vue'),
      // The key keeps the sidebar while the path changes.
      meta: { layout: false, middleware: [MIDDLEWARE], key: MIDDLEWARE },
    })
  })
  nuxt.hook('app:resolve', (app) => {
    if (lacksPage(app.mainComponent)) warn(`${app.mainComponent} has no \`<NuxtPage />\`, so the admin is not shown. Add it.`)
    const names = app.middleware.map(({ name }) => name)
    if (middleware === undefined || names.includes(middleware)) return
    const closest = didYouMean(middleware, names.filter(name => name !== MIDDLEWARE && name !== 'validate'))
    warn(`\`autoAdmin.middleware\` is \`${middleware}\`, which is not a file in \`middleware/\`.${closest} If no plugin of the app adds it `
      + 'with `addRouteMiddleware`, the admin refuses every request with a 500.')
  })
  // Prefix, resource, record and further segments: a rule for any number of segments matches one of these.
  const paths = ['', '/:a', '/:a/:b', '/:a/:b/:c', ...config.pages.map(({ path }) => path)].map(path => prefix + path)
  nuxt.hook('nitro:init', ({ options }) => assertNoProblems(findCachedPaths((options.routeRules ?? {}) as RouteRules, paths, prefix)))
}

/** Whether a component of the app shows no page. A layout could show it. The component of Nuxt itself is fine. */
function lacksPage(path: string | null | undefined): boolean {
  if (!path || path.includes('node_modules')) return false
  return !/<(?:nuxt-?page|nuxt-?layout|router-?view)\b/i.test(readFileSync(path, 'utf8'))
}
