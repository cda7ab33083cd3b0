/** The routes of explanations on a development server. They answer requests of this machine only, and no production build has them. */
import { base, rootDir, script, secret, sources } from '#auto-api/explain'
import type { ServerApi } from '../api/create'
import { readBody } from '../http/body'
import { platformOf, type HttpEvent } from '../http/platform'
import { defineEventHandler, type EventHandler } from '../http/platform/h3'
import { parseQuery, sentUrl } from '../http/url'
import { useApi } from '../runtime'
import { InvalidCaller, parseCaller } from './as'
import { explain } from './explain'
import { findPlaces } from './find-places'
import { describeAccess, describeForDevtools } from './inspect'
import { isLocal } from './local'
import { page } from './page'
import { record, type Recording } from './recorder'
import { clearRequests, loggedRequests } from './request-log'

/** A request to explain. */
interface Asked {
  readonly method?: string
  /** With the prefix of the API. */
  readonly path?: string
  readonly body?: unknown
  readonly as?: string
}

const MAX_BODY = 1024 * 1024

/** Paths of explanations begin with the prefix of the API, whatever the base URL of the app. */
const withoutBase = (path: string) => base !== '' && path.startsWith(`${base}/`) ? path.slice(base.length) : path

type Answer = (event: HttpEvent, api: ServerApi) => unknown

/** The routes by method and path below `/_auto-api`. */
const ROUTES: Readonly<Record<string, Answer>> = {
  'GET /app': () => ({ rootDir }),
  'GET /devtools': () => new Response(page(script), { headers: { 'content-type': 'text/html; charset=utf-8' } }),
  'GET /devtools/resources': (_, api) => ({ prefix: api.config.prefix, resources: describeForDevtools(api, findPlaces(sources)) }),
  'POST /devtools/access': async (event, api) => {
    const { as = '' } = await readAsked(event)
    const { recording: { ctx } } = await send(event, { path: `${api.config.prefix}/permissions`, as })
    if (!ctx) throw new InvalidCaller('The caller of this browser could not be found: the app refuses the request before.')
    return describeAccess(api, ctx, findPlaces(sources))
  },
  'GET /devtools/requests': () => loggedRequests().map(request => ({ ...request, path: withoutBase(request.path) })),
  'DELETE /devtools/requests': () => {
    clearRequests()
    return {}
  },
  'POST /explain': async (event, api) => explainAsked(event, api, await readAsked(event)),
}

const MOUNT = '/_auto-api'

/** Middleware: explains a GET with `explain=true`, and answers the routes of the developer tools. */
export function defineExplainRoutes(): EventHandler {
  return defineEventHandler((event) => {
    const { path, query } = sentUrl(event)
    const [, below] = path.split(MOUNT)
    const route = below !== undefined && path.includes(`${MOUNT}/`) ? ROUTES[`${event.method} ${below}`] : undefined
    const asked = route ? undefined : askedIn(event, path, query)
    if (!route && !asked) return
    if (!isLocal(event, secret)) return undefined
    return answer(event, route ?? ((event, api) => explainAsked(event, api, asked!)))
  })
}

/** A request with `explain=true`, without that parameter. */
function askedIn({ method }: HttpEvent, path: string, query: string): Asked | undefined {
  if (method !== 'GET' || !query.includes('explain=')) return undefined
  const { explain: flag, as, ...rest } = parseQuery(query)
  if (flag !== 'true') return undefined
  const others = new URLSearchParams(Object.entries(rest).flatMap(([name, value]) => [value].flat().map(text => [name, text])))
  return { path: withoutBase(path) + (others.size > 0 ? `?${others}` : ''), ...typeof as === 'string' && { as } }
}

async function answer(event: HttpEvent, run: Answer): Promise<unknown> {
  const platform = platformOf(event)
  platform.setHeader(event, 'cache-control', 'no-store')
  platform.setHeader(event, 'x-content-type-options', 'nosniff')
  try {
    return await run(event, useApi(event))
  }
  catch (error) {
    platform.setStatus(event, error instanceof InvalidCaller || error instanceof SyntaxError ? 400 : 500)
    return { message: error instanceof Error ? error.message : String(error) }
  }
}

async function readAsked(event: HttpEvent): Promise<Asked> {
  const asked: unknown = JSON.parse(await readBody(event, MAX_BODY) || '{}')
  return typeof asked === 'object' && asked !== null ? asked : {}
}

async function explainAsked(event: HttpEvent, api: ServerApi, asked: Asked) {
  const { method = 'GET', body } = asked
  const path = withoutBase(asked.path ?? '')
  if (!path.startsWith(`${api.config.prefix}/`)) throw new InvalidCaller(`The path has to begin with \`${api.config.prefix}/\`.`)
  const { recording, status, response } = await send(event, { ...asked, path })
  return explain(api, recording, { method, path, body, status, response }, findPlaces(sources))
}

interface Sent {
  readonly recording: Recording
  readonly status: number
  readonly response: unknown
}

/** Sends the request to this server, and records it. A write is a dry run. */
async function send(event: HttpEvent, { method = 'GET', path = '', body, as = '' }: Asked): Promise<Sent> {
  const caller = parseCaller(as)
  const text = body === undefined ? '' : JSON.stringify(body)
  const headers = {
    'accept': 'application/json',
    'content-length': text === '' ? '' : String(new TextEncoder().encode(text).length),
    'sec-fetch-site': 'none',
    ...text !== '' && { 'content-type': 'application/json' },
    ...method !== 'GET' && { prefer: 'tx=rollback' },
    // The caller of the browser would come first.
    ...caller !== undefined && { cookie: '', authorization: '' },
  }
  const instead = { url: base + path, method, ...text !== '' && { body: text } }
  const run = async () => platformOf(event).sendAgain?.(event, headers, instead)
  const { result, recording } = await record(run, caller === 'anonymous' ? undefined : caller)
  if (!result) throw new Error('This server cannot send requests to itself.')
  const sent = await result.text()
  const isJson = /\bjson\b/.test(result.headers.get('content-type') ?? '')
  return { recording, status: result.status, response: isJson && sent !== '' ? JSON.parse(sent) as unknown : sent }
}
