/** A raw request and its response, as sent over HTTP. */

export interface ApiRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  /** Id of the demo user who sends the request; `null` for an anonymous caller. */
  caller: string | null
  body?: Record<string, unknown>
}

export interface Exchange {
  request: ApiRequest
  /** 0: no response. */
  status: number
  statusText: string
  milliseconds: number
  /** The SQL statements of the request, from a route of the playground. */
  statements?: readonly string[]
  /** The state of the response cache, such as `hit`. Responses of resources that are not cached have none. */
  cache?: string
  body: unknown
  /** Error message for the page. */
  problem?: string
}

/** Sends a request and returns the response, also for errors. */
export async function sendRequest(request: ApiRequest): Promise<Exchange> {
  const trace = crypto.randomUUID()
  const start = performance.now()
  const milliseconds = () => Math.round(performance.now() - start)
  try {
    const response = await $fetch.raw<unknown>(request.path, {
      method: request.method,
      body: request.body,
      headers: { 'x-demo-trace': trace, ...request.caller && { 'x-demo-user': request.caller } },
      ignoreResponseError: true,
      retry: 0,
    })
    const duration = milliseconds()
    const { status, _data: body } = response
    const statements = await $fetch<string[]>(`/api/demo/statements/${trace}`).catch(() => undefined)
    const cache = response.headers.get('cache-status')
    return {
      request,
      status,
      statusText: response.statusText,
      milliseconds: duration,
      ...statements && { statements },
      // `auto-api; hit; ttl=60` and `auto-api; fwd=miss; stored`
      ...cache !== null && { cache: cache.replace(/^auto-api; (?:fwd=)?/, '').split(';')[0]! },
      body,
      problem: response.ok ? undefined : `${status}: ${messageOf(body) ?? response.statusText}`,
    }
  }
  catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { request, status: 0, statusText: '', milliseconds: milliseconds(), body: null, problem: `No response: ${reason}` }
  }
}

/** The request as a curl command. */
export function toCurl({ method, path, caller, body }: ApiRequest, origin: string): string {
  return [
    'curl',
    // Without `-g`, curl interprets braces and brackets of a query as patterns.
    ...(/[{}[\]]/.test(path) ? ['-g'] : []),
    ...(method === 'GET' ? [] : ['-X', method]),
    ...(caller ? ['-H', `'x-demo-user: ${caller}'`] : []),
    ...(body ? ['-H', '\'content-type: application/json\'', '-d', quote(JSON.stringify(body))] : []),
    quote(`${origin}${path}`),
  ].join(' ')
}

function quote(text: string): string {
  return `'${text.replaceAll('\'', '\'\\\'\'')}'`
}

/** The message of an error, with the messages of failed bulk items. */
function messageOf(body: unknown): string | undefined {
  const { message, data } = (body ?? {}) as { message?: string, data?: { errors?: { id?: unknown, index: number, message: string }[] } }
  const items = Array.isArray(data?.errors) ? data.errors.map(({ id, index, message }) => `${id ?? `item ${index}`}: ${message}`) : []
  return message && [message, ...items].join(' · ')
}
