/** Decides from which connection a session reads, and marks the responses of writes. */
import type { Engine } from '../../engines/engine'
import type { Api } from '../api'
import type { ApiRequest } from './api-request'
import type { Session } from './session'
import { ApiError, isHttpError } from '../error'
import { isCredentialCaller } from './lock-caller'
import { canWrite, isDryRun } from './prefer'
import { createMarker, findMarkedPosition, MARKER_HEADER } from '../replicas/marker'
import { createReadEngine } from '../replicas/replica-engine'

/**
 * Only requests that cannot write, on routes that only read, use a replica. A request that is part of another one, such as that of an MCP
 * tool, has no replicas: the client gets no marker between the two.
 */
export function engineFor({ secrets: findSecrets }: Api, request: ApiRequest, isReadOnly: boolean): Engine {
  const { engine, replicas, header, event } = request
  if (!isReadOnly || !replicas || canWrite(request)) return engine
  const secrets = findSecrets?.(event)
  if (secrets) return createReadEngine(engine, replicas, () => findMarkedPosition(header, secrets, replicas.maxLag))
  replicas.warnWithoutSecret()
  return engine
}

/** The errors after which a caller can read an older state than the write has seen. Other errors of clients come before it. */
const MARKED: ReadonlySet<number> = new Set([404, 409, 412])

/** Whether the response of the request gets a marker: it can write, and the database has replicas. */
export const isMarked = (api: Api, request: ApiRequest): boolean =>
  canWrite(request) && api.database.replicas(request.event) !== undefined && !isDryRun(request)

/** Runs the rest of a request, and adds the marker to its response. */
export async function withMarker<T>(api: Api, request: ApiRequest, session: Session, run: () => Promise<T>): Promise<T> {
  try {
    const response = await run()
    await markWrite(api, request, !isCredentialCaller(session.ctx))
    return response
  }
  catch (error) {
    const status = statusOf(error)
    if (status === undefined || status >= 500 || MARKED.has(status)) await markWrite(api, request, !isCredentialCaller(session.ctx))
    throw error
  }
}

/** Adds the marker of everything that has been committed so far to the response. */
export async function markWrite(
  { database, secrets: findSecrets }: Api,
  { event, header, setHeader }: Pick<ApiRequest, 'event' | 'header' | 'setHeader'>,
  hasCookie: boolean,
): Promise<void> {
  const replicas = database.replicas(event)
  const secrets = findSecrets?.(event)
  if (!replicas || !secrets) return
  const position = await replicas.position().catch(() => undefined)
  // Browsers send the header with every write.
  const isSecure = header('origin')?.startsWith('https://') === true
  const { token, cookie } = await createMarker(secrets, position, replicas.maxLag, isSecure)
  setHeader(MARKER_HEADER, token)
  if (hasCookie) setHeader('set-cookie', cookie)
}

function statusOf(error: unknown): number | undefined {
  if (!(error instanceof ApiError) && !isHttpError(error)) return undefined
  const { status, statusCode = status } = error as { readonly status?: number, readonly statusCode?: number }
  return statusCode
}
