/** One request and its answer, kept raw: what the page shows is what went over the wire. */

export interface ApiRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  /** Id of the demo user in whose name the request is sent; none for an anonymous one. */
  caller: string | null
  body?: Record<string, unknown>
}

export interface Exchange {
  request: ApiRequest
  /** 0: no answer at all. */
  status: number
  statusText: string
  milliseconds: number
  /** SQL statements of the answer; the playground's own header tells it. */
  statements?: number
  body: unknown
  /** What went wrong, for people. */
  problem?: string
}

/** Sends a request and reports whatever comes back: an error is an answer too. */
export async function sendRequest(request: ApiRequest): Promise<Exchange> {
  const start = performance.now()
  const milliseconds = () => Math.round(performance.now() - start)
  try {
    const response = await $fetch.raw<unknown>(request.path, {
      method: request.method,
      body: request.body,
      headers: request.caller ? { 'x-demo-user': request.caller } : {},
      ignoreResponseError: true,
      retry: 0,
    })
    const { status, _data: body } = response
    const statements = response.headers.get('x-demo-statements')
    return {
      request,
      status,
      statusText: response.statusText,
      milliseconds: milliseconds(),
      ...statements !== null && { statements: Number(statements) },
      body,
      problem: response.ok ? undefined : `${status}: ${messageOf(body) ?? response.statusText}`,
    }
  }
  catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { request, status: 0, statusText: '', milliseconds: milliseconds(), body: null, problem: `No answer: ${reason}` }
  }
}

/** The same request for a terminal. */
export function toCurl({ method, path, caller, body }: ApiRequest, origin: string): string {
  return [
    'curl',
    // Without it, curl reads braces and brackets of a query as patterns.
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

/** The message of an error, with that of each item of a batch. */
function messageOf(body: unknown): string | undefined {
  const { message, data } = (body ?? {}) as { message?: string, data?: { errors?: { id?: unknown, index: number, message: string }[] } }
  const items = Array.isArray(data?.errors) ? data.errors.map(({ id, index, message }) => `${id ?? `item ${index}`}: ${message}`) : []
  return message && [message, ...items].join(' · ')
}
