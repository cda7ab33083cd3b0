/** The addresses that pages once had. Links to them keep working: browsers keep the anchor of a redirect. */
import { toRoute } from './links.ts'

/** The pages before they had folders: `/querying` is `/reference/querying` now. Their number and folder can change, but not this list. */
const FLAT = `activity admin admin-views audit authentication authorization batch better-auth caching cli composables computed databases
description edge endpoints errors explain export files forms getting-started hooks http import live mcp nested nuxt-5 nuxt-auth-utils nuxt-ui
nuxthub openapi options performance plugin-kit plugins postgres querying rate-limiting registering relations request-metadata scaling
security starters tables tenancy testing tokens tracing trash upgrading views webhooks writing`.split(/\s+/)

/** Pages with another name: old name → name of the page that has its content now. */
const RENAMED: Readonly<Record<string, string>> = { edge: 'cloudflare' }

/**
 * @param files the pages in their order, relative to the folder of the docs
 * @returns path → route. A folder leads to its first page
 * @throws if a page no longer exists and `RENAMED` names no other one
 */
export function listRedirects(files: readonly string[]): Record<string, string> {
  const routes = files.map(toRoute)
  const folders = routes.map((route): [string, string] => [route.slice(0, route.lastIndexOf('/')), route]).reverse()
  const flat = FLAT.map((name): [string, string] => {
    const page = RENAMED[name] ?? name
    const route = routes.find(route => route.endsWith(`/${page}`))
    if (route === undefined) throw new Error(`docs/site/redirects.ts: no page is named "${page}". Add the page that replaces it to RENAMED.`)
    return [`/${name}`, route]
  })
  return Object.fromEntries([...folders, ...flat])
}
