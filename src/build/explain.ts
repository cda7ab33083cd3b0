/** Adds what explains requests in development: the routes of the explanations, the recorder, and a tab in Nuxt DevTools. */
import { randomBytes } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { addDevServerHandler, addServerHandler, addServerPlugin, addServerTemplate, resolvePath } from '@nuxt/kit'
import type { Nuxt } from 'nuxt/schema'
import { isAbsolute, relative } from 'pathe'
import type { RuleSource } from '../runtime/shared/explanation'
import type { FileResource } from './resource-files'
import type { CheckedRegistration } from './registration-keys'

/** As in `server/explain/local.ts`. */
const LOCAL_HEADER = 'x-auto-api-local'

/** A request of Node, in each version of h3. */
interface DevEvent {
  readonly node?: { readonly req?: DevRequest }
  readonly runtime?: { readonly node?: { readonly req?: DevRequest } }
}

interface DevRequest {
  readonly headers: Record<string, unknown>
  readonly socket?: { readonly remoteAddress?: string }
}

const LOOPBACK = /^(?:::1|(?:::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3})$/

/**
 * Marks the requests of this machine. Only the process that has the socket knows them: behind it, the address of a request is a header,
 * which any client can send.
 */
export function markLocal(secret: string): (event: DevEvent) => void {
  return ({ node, runtime }) => {
    const request = node?.req ?? runtime?.node?.req
    if (!request) return
    if (LOOPBACK.test(request.socket?.remoteAddress ?? '')) request.headers[LOCAL_HEADER] = secret
    else Reflect.deleteProperty(request.headers, LOCAL_HEADER)
  }
}

/** @param registrations the checked registrations, with the files of their rules */
export async function addExplanations(
  nuxt: Nuxt, registrations: readonly CheckedRegistration[], files: readonly FileResource[], resolve: (path: string) => string,
): Promise<void> {
  const { dev, rootDir, app } = nuxt.options
  if (!dev) return
  const secret = randomBytes(16).toString('hex')
  const entry = await resolvePath(resolve('./runtime/devtools/main'))
  const script = `${app.baseURL.replace(/\/$/, '')}${app.buildAssetsDir.replace(/\/$/, '')}/@fs/${entry.replace(/^\//, '')}`
  const sources = registrations.flatMap(registration => sourceOf(registration, files, rootDir))
  addServerTemplate({
    filename: '#auto-api/explain',
    getContents: () => [
      `export const sources = ${JSON.stringify(sources, null, 2)}`,
      `export const rootDir = ${JSON.stringify(realpathSync(rootDir))}`,
      `export const secret = ${JSON.stringify(secret)}`,
      `export const script = ${JSON.stringify(script)}\n`,
    ].join('\n'),
  })
  addServerPlugin(resolve('./runtime/server/explain/start'))
  addServerHandler({ middleware: true, handler: resolve('./runtime/server/explain/middleware') })
  addDevServerHandler({ route: '', handler: Object.assign(markLocal(secret), { __is_handler__: true }) as never })
  addTab(nuxt)
}

function sourceOf({ name, imports }: CheckedRegistration, files: readonly FileResource[], rootDir: string): RuleSource[] {
  const file = files.find(file => file.name === name)
  if (file) return [{ resource: name, file: file.path, shown: file.displayPath, name: 'default' }]
  const { authorization } = imports
  if (!authorization || !isAbsolute(authorization.path)) return []
  return [{ resource: name, file: authorization.path, shown: relative(rootDir, authorization.path), name: authorization.name }]
}

/** A tab as Nuxt DevTools reads it from its hook. */
interface Tab {
  readonly name: string
  readonly title: string
  readonly icon: string
  readonly category: string
  readonly view: { readonly type: 'iframe', readonly src: string }
}

/**
 * Adds a tab by the hook of Nuxt DevTools. `addCustomTab` of its kit does nothing else, and would add twenty packages to every app. Without
 * DevTools, the page can still be opened.
 */
function addTab({ hook, options }: Nuxt): void {
  const src = `${options.app.baseURL.replace(/\/$/, '')}/_auto-api/devtools`
  const tab: Tab = { name: 'auto-api', title: 'Auto API', icon: 'carbon:data-base', category: 'server', view: { type: 'iframe', src } }
  hook('devtools:customTabs' as never, ((tabs: Tab[]) => void tabs.push(tab)) as never)
}
