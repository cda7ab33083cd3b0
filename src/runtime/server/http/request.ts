/** Converts an event to the request of the core. */
import { LIMITS } from '../../shared/limits'
import type { ServerApi } from '../api/create'
import { clientAddressOf } from './client-address'
import type { ApiRequest } from '../core/request/api-request'
import { invalidBody, limitExceeded, notFound } from '../core/error'
import { assertHeader } from '../core/request/header'
import type { ArrivingRequest } from '../core/extensions/listeners'
import { addLogFields } from '../core/process/log'
import { canWrite } from '../core/request/prefer'
import { assertMediaType, DEFAULT_ACCEPTS, FORM_TYPE, mediaTypeOf } from '../core/request/media-type'
import type { AutoApiUser } from '../registration'
import type { Resource } from '../schema/model'
import { decode, idFromPath } from '../schema/record-id'
import { readBody, readChunks } from './body'
import { applyHeader, headerOf } from './headers'
import { platformOf, type HttpEvent } from './platform'
import { signalOf } from './stream'
import { parseQuery, segmentsBelow, sentUrl, type SentUrl } from './url'

/** Converts an event to a request. */
export type ToRequest = (event: HttpEvent, api: ServerApi) => ApiRequest

/** Converts an event before its route is known. */
export function toArrivingRequest(event: HttpEvent, api: ServerApi): ArrivingRequest {
  return {
    method: event.method,
    header: name => headerOf(event, name),
    address: () => clientAddressOf(event, api.config.trustProxy),
    setHeader(name, value) {
      assertHeader(name, value, 'request.setHeader()')
      applyHeader(event, name, value)
    },
    addLogFields: fields => addLogFields(event, fields),
    event: event as unknown as ArrivingRequest['event'],
  }
}

/** Converts an event of a path below a resource. @throws 404 if the resource does not exist */
export function toResourceRequest(event: HttpEvent, api: ServerApi): ApiRequest {
  const url = sentUrl(event)
  const segments = segmentsBelow(api.mountPath, event, url)
  const [id, relation] = [segments[1], segments[3]]
  const resource = requireResource(api, segments[0])
  const params: Record<string, string | undefined> = {}
  if (id !== undefined) params.id = idFromPath(resource, id)
  if (relation !== undefined) params.relation = decode(relation)
  return toBareRequest(event, url, api, params, resource.name)
}

/** Converts an event of a path without a resource. The last segment of the path is the parameter. */
export function toGlobalRequest(event: HttpEvent, api: ServerApi): ApiRequest {
  const url = sentUrl(event)
  const last = segmentsBelow(api.mountPath, event, url).at(-1)
  return toBareRequest(event, url, api, last === undefined ? {} : { last: decode(last) })
}

/** Converts an event of the app's own path. The parameters come from the router, decoded. */
export function toCustomRequest(event: HttpEvent, api: ServerApi): ApiRequest {
  const { params: encoded = {} } = event.context as { readonly params?: Readonly<Record<string, string>> }
  const params = Object.entries(encoded).map(([name, value]) => [name, decode(value)])
  return toBareRequest(event, sentUrl(event), api, Object.fromEntries(params) as ApiRequest['params'])
}

/** Converts an event of a plugin's route. @param params the parameters, encoded as in the path */
export function toPluginRequest(
  event: HttpEvent, api: ServerApi, resource: Resource | undefined, params: Readonly<Record<string, string>>,
): ApiRequest {
  const decoded = Object.entries(params).map(([name, text]) => [
    name,
    name === 'id' && resource ? idFromPath(resource, text) : decode(text),
  ])
  return toBareRequest(event, sentUrl(event), api, Object.fromEntries(decoded) as ApiRequest['params'], resource?.name)
}

/** @throws 404 if the resource does not exist. The router can find a route for it when it takes an encoded `?` for the end of the path. */
export function requireResource(api: ServerApi, name: string | undefined): Resource {
  const resource = api.resources.get(name ?? '')
  if (!resource) throw notFound()
  return resource
}

function toBareRequest(event: HttpEvent, url: SentUrl, api: ServerApi, params: ApiRequest['params'], resource = ''): ApiRequest {
  const platform = platformOf(event)
  const { user, permissions, tenantId } = event.context as {
    readonly user?: AutoApiUser | null
    readonly permissions?: readonly string[]
    readonly tenantId?: unknown
  }
  const { body, stream } = bodyOf(event, api.config.http.maxBodySize)
  return {
    resource,
    method: event.method,
    path: url.path,
    params,
    query: parseQuery(url.query),
    header: name => platform.header(event, name),
    address: () => clientAddressOf(event, api.config.trustProxy),
    setHeader: (name, value) => applyHeader(event, name, value),
    body,
    stream,
    signal: () => signalOf(event),
    event,
    caller: { user: user ?? null, permissions, tenantId },
    engine: api.database.engine(event),
    db: api.database.get(event),
    replicas: canWrite(event) ? undefined : api.database.replicas(event),
  }
}

/** The functions that read the body. Only one of them can be called, and only once. */
function bodyOf(event: HttpEvent, maxBodySize: number): Pick<ApiRequest, 'body' | 'stream'> {
  const typeOf = () => mediaTypeOf(headerOf(event, 'content-type'))
  let isRead = false
  let parsed: Promise<unknown> | undefined
  const markRead = () => {
    if (isRead) throw new TypeError('[auto-api] The body was read before. Read it once, by a `body` schema or by `stream()`.')
    isRead = true
  }
  return {
    async body(accepted = DEFAULT_ACCEPTS) {
      const type = typeOf()
      assertMediaType(type, accepted)
      // A plugin can read the body before the route does.
      if (!parsed) {
        markRead()
        parsed = readBody(event, maxBodySize).then(text => parseBody(type, text ?? ''))
      }
      return parsed
    },
    stream(accepted, maxSize) {
      const type = typeOf()
      if (type !== undefined) assertMediaType(type, accepted)
      markRead()
      return streamOf(event, type, accepted, maxSize)
    },
  }
}

/** An empty body has no media type. */
async function* streamOf(
  event: HttpEvent, type: string | undefined, accepted: readonly string[], maxSize: number,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of readChunks(event, maxSize)) {
    assertMediaType(type, accepted)
    yield chunk
  }
}

function parseBody(type: string, text: string): unknown {
  if (type === FORM_TYPE) return parseForm(text)
  try {
    return JSON.parse(text)
  }
  catch {
    throw invalidBody('The body is not valid JSON.')
  }
}

/** A field that is repeated becomes a list. The fields are counted first, because parsing a megabyte of them blocks for seconds. */
function parseForm(text: string): Record<string, string | string[]> {
  let separators = 0
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1)) {
    if (++separators >= LIMITS.formFields) throw limitExceeded(`The form has more than ${LIMITS.formFields} fields.`)
  }
  const fields: Record<string, string | string[]> = Object.create(null)
  for (const [name, value] of new URLSearchParams(text)) {
    const known = fields[name]
    if (known === undefined) fields[name] = value
    else if (typeof known === 'string') fields[name] = [known, value]
    else known.push(value)
  }
  return fields
}
