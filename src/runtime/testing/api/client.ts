/** Sends the requests of one caller of a test. */
import type { CallerContext } from './serve'

/** Who sends a request. */
export interface TestCaller extends CallerContext {
  /** Headers of every request of the caller, such as a session cookie or a token. */
  readonly headers?: Readonly<Record<string, string>>
  /** Other values that the middleware of the app sets in `event.context`. Only in this process. */
  readonly context?: Readonly<Record<string, unknown>>
}

export interface TestResponse<Body = unknown> {
  readonly status: number
  /** The parsed JSON. Text, if the response is not JSON. `undefined`, if it has no body. */
  readonly body: Body
  /** The code of an error response, such as `FORBIDDEN`. */
  readonly code: string | undefined
  readonly headers: Headers
  readonly text: string
}

export interface TestRequest {
  readonly body?: unknown
  readonly query?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
}

/** The requests of one caller. Paths follow the prefix: `/posts/1`. The type parameter is the type of the body. */
export interface TestClient {
  readonly get: <Body = unknown>(path: string, query?: TestRequest['query']) => Promise<TestResponse<Body>>
  readonly post: <Body = unknown>(path: string, body?: unknown) => Promise<TestResponse<Body>>
  readonly patch: <Body = unknown>(path: string, body?: unknown) => Promise<TestResponse<Body>>
  readonly put: <Body = unknown>(path: string, body?: unknown) => Promise<TestResponse<Body>>
  readonly delete: <Body = unknown>(path: string, body?: unknown) => Promise<TestResponse<Body>>
  readonly request: <Body = unknown>(method: string, path: string, request?: TestRequest) => Promise<TestResponse<Body>>
}

/** Sends a request. The path begins with the prefix. */
export type Send = (request: { readonly method: string, readonly path: string, readonly init: RequestInit }) => Promise<Response>

export function createClient(send: Send, prefix: string, { headers: own = {} }: TestCaller): TestClient {
  const request: TestClient['request'] = async (method, path, { body, query, headers = {} } = {}) => {
    const response = await send({
      method,
      path: prefix + path + toQuery(query, path),
      init: {
        method,
        headers: { accept: 'application/json', ...body !== undefined && { 'content-type': 'application/json' }, ...own, ...headers },
        ...body !== undefined && { body: JSON.stringify(body) },
        redirect: 'manual',
      },
    })
    return await toResponse(response)
  }
  return {
    request,
    get: (path, query) => request('GET', path, { ...query && { query } }),
    post: (path, body) => request('POST', path, { body }),
    patch: (path, body) => request('PATCH', path, { body }),
    put: (path, body) => request('PUT', path, { body }),
    delete: (path, body) => request('DELETE', path, { body }),
  }
}

/** Objects become JSON: `filter={"id":1}`. */
function toQuery(query: TestRequest['query'], path: string): string {
  const entries = Object.entries(query ?? {}).filter(([, value]) => value !== undefined)
  if (entries.length === 0) return ''
  const toText = (value: unknown) => typeof value === 'object' ? JSON.stringify(value) : String(value)
  return `${path.includes('?') ? '&' : '?'}${new URLSearchParams(entries.map(([name, value]) => [name, toText(value)]))}`
}

async function toResponse<Body>(response: Response): Promise<TestResponse<Body>> {
  const text = await response.text()
  const isJson = /\bjson\b/.test(response.headers.get('content-type') ?? '') && !response.headers.get('content-type')?.includes('ndjson')
  const body = text === '' ? undefined : isJson ? JSON.parse(text) as unknown : text
  const { data, code = data?.code } = (response.status >= 400 && isJson ? body : {}) as { code?: string, data?: { code?: string } }
  return { status: response.status, body: body as Body, code, headers: response.headers, text }
}
