/** Adds what explains requests in development: the routes of the explanations, the recorder, and a tab in Nuxt DevTools. */
import { randomBytes } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { addDevServerHandler, addServerHandler, addServerPlugin, addServerTemplate, isNuxtMajorVersion, resolvePath } from '@nuxt/kit'
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

/** Whether a development server listens on addresses of other machines, by what can set its host. */
export function listensBeyond(
  host: string | undefined, env: NodeJS.ProcessEnv = process.env, args: readonly string[] = process.argv,
): boolean {
  const at = args.findIndex(arg => /^--host(?:=|$)/.test(arg))
  // `--host` alone means every address.
  const named = at === -1 ? [] : [/=(.*)/.exec(args[at]!)?.[1] ?? args[at + 1] ?? '0.0.0.0']
  return [host, env.NUXT_HOST, env.NITRO_HOST, env.HOST, ...named]
    .some(value => value !== undefined && value !== '' && !/^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/.test(value))
}

/** @param registrations the checked registrations, with the files of their rules */
export async function addExplanations(
  nuxt: Nuxt, registrations: readonly CheckedRegistration[], files: readonly FileResource[], resolve: (path: string) => string,
): Promise<void> {
  const { dev, rootDir, app, devServer } = nuxt.options
  if (!dev) return
  // Vite of Nuxt 5 has no handler in front of the server. There, the server has to listen on this machine only.
  const canMark = isNuxtMajorVersion(4, nuxt)
  if (!canMark && listensBeyond(devServer.host)) return
  const secret = canMark ? randomBytes(16).toString('hex') : ''
  const entry = await resolvePath(resolve('./runtime/devtools/main'))
  const base = app.baseURL.replace(/\/$/, '')
  const script = `${base}${app.buildAssetsDir.replace(/\/$/, '')}/@fs/${entry.replace(/^\//, '')}`
  const sources = registrations.flatMap(registration => sourceOf(registration, files, rootDir))
  addServerTemplate({
    filename: '#auto-api/explain',
    getContents: () => [
      `export const sources = ${JSON.stringify(sources, null, 2)}`,
      `export const base = ${JSON.stringify(base)}`,
      `export const rootDir = ${JSON.stringify(realpathSync(rootDir))}`,
      `export const secret = ${JSON.stringify(secret)}`,
      `export const script = ${JSON.stringify(script)}\n`,
    ].join('\n'),
  })
  addServerPlugin(resolve('./runtime/server/explain/start'))
  addServerHandler({ middleware: true, handler: resolve('./runtime/server/explain/middleware') })
  if (canMark) addDevServerHandler({ route: '', handler: Object.assign(markLocal(secret), { __is_handler__: true }) as never })
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
