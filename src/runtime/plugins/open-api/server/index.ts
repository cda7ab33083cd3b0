/** Sends the document. It is created once per grant: callers who can use the same get the same text. */
import { type AutoApiContext, decide, type Permission, requireSession } from '../../../server/kit/call'
import { refused } from '../../../server/kit/errors'
import type { RouteRequest } from '../../../server/kit/request'
import { createLruCache } from '../../../server/kit/process'
import { basePathOf } from '../../../server/kit/http'
import { sendText } from '../../../server/kit/respond'
import { readFeatures } from '../../../server/plugin/features'
import { readRoutes } from '../../../server/plugin/routes-of'
import type { PluginServer } from '../../../server/plugin/server'
import { createDocument, type DocumentFacts, type OpenApiDocument } from './document/index'
import { createIds, findCandidates, findGrant, type Candidate } from './grant'
import type { OpenApiOptions } from '../options'

/** The documents of this many grants are kept. Rules in code can have any number of results. */
const MAX_DOCUMENTS = 64

const DOCUMENT = '/_openapi.json'

interface Created {
  readonly document: OpenApiDocument
  readonly text: string
  /** Created when it is requested. */
  page?: string
}

export interface OpenApi {
  readonly sendDocument: (ctx: AutoApiContext, request: RouteRequest) => Promise<string | null>
  readonly sendReference: (ctx: AutoApiContext, request: RouteRequest) => Promise<string | null>
}

export type ResolvedOptions = Omit<OpenApiOptions, 'access'> & { readonly access: Permission }

export function createOpenApi(options: ResolvedOptions, server: PluginServer): OpenApi {
  const { config: { prefix } } = server
  const cached = createLruCache<Created>(MAX_DOCUMENTS)
  const idOf = createIds()
  let candidates: Promise<readonly Candidate[]> | undefined
  let facts: DocumentFacts | undefined
  let policy: string | undefined

  /** @throws 401, 403 */
  async function find(ctx: AutoApiContext, path: string): Promise<Created> {
    const session = requireSession(ctx)
    if (!await decide(session, options.access, ctx)) throw refused(ctx)
    candidates ??= findCandidates(readRoutes(server), prefix, [...server.resources.keys()])
    facts ??= toFacts(options, server, name => session.api.resources.get(name)?.requireIfMatch === true)
    const { grant, key } = await findGrant(ctx, await candidates, basePathOf(ctx.event, prefix + path), idOf)
    const known = facts
    return cached(key, (): Created => {
      const document = createDocument(grant, known)
      return { document, text: JSON.stringify(document) }
    })
  }

  return {
    async sendDocument(ctx, request) {
      const { text } = await find(ctx, DOCUMENT)
      return sendText(request, text, 'application/json')
    },
    async sendReference(ctx, request) {
      const created = await find(ctx, '/_reference')
      const { referencePolicy, renderReference } = await import('./reference/index')
      const page = created.page ??= renderReference(created.document)
      request.setHeader('content-security-policy', policy ??= await referencePolicy())
      request.setHeader('x-content-type-options', 'nosniff')
      request.setHeader('referrer-policy', 'no-referrer')
      return sendText(request, page, 'text/html; charset=utf-8')
    },
  }
}

function toFacts(
  { info, servers, securitySchemes }: OpenApiOptions, server: PluginServer, requiresIfMatch: DocumentFacts['requiresIfMatch'],
): DocumentFacts {
  const { tokens, webhooks, idempotency, rateLimit, sessionCookie } = readFeatures(server)
  return {
    prefix: server.config.prefix,
    info: { title: 'API', version: '1.0.0', ...info },
    ...servers && { servers },
    securitySchemes: {
      ...tokens && { apiToken: { type: 'http', scheme: 'bearer', description: 'An API token.' } },
      ...sessionCookie !== undefined && { session: { type: 'apiKey', in: 'cookie', name: sessionCookie } },
      ...securitySchemes,
    },
    hasIdempotency: idempotency === true,
    hasRateLimit: rateLimit === true,
    secrets: new Map([...tokens ? [[tokens.resource, 'token']] as const : [], ...webhooks ? [[webhooks.resource, 'secret']] as const : []]),
    requiresIfMatch,
    isAppRoute: readRoutes(server).isAppRoute,
  }
}
