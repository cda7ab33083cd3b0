/** Checks an answer of the API against the OpenAPI document of its caller. */
import { ERRORS } from '../../../src/runtime/shared/error-codes'
import { createSchemaValidator, operationsOf, resolve, type Document, type FoundOperation } from './document'

export interface Answer {
  readonly method: string
  /** The path with its query string, below the host. */
  readonly path: string
  readonly status: number
  readonly contentType: string | undefined
  readonly body: unknown
}

export interface Checker {
  /** Finds the operation of a request. */
  readonly find: (method: string, path: string) => FoundOperation | undefined
  /** Returns what the document does not allow. `undefined` if the document does not contain the route. */
  readonly check: (answer: Answer) => readonly string[] | undefined
}

export function createChecker(document: Document): Checker {
  const validate = createSchemaValidator(document)
  const operations = operationsOf(document).map(found => ({ ...found, pattern: toPattern(found.path) }))
    // A path without a parameter takes precedence: `/posts/bulk` before `/posts/{id}`.
    .sort((a, b) => count(a.path) - count(b.path))
  const find = (method: string, path: string) =>
    operations.find(operation => operation.method === method && operation.pattern.test(path))

  return {
    find,
    check({ method, path, status, contentType, body }) {
      const [address, query = ''] = path.split('?') as [string, string?]
      // A list with `groupBy` has the response of the aggregate.
      const isGrouped = method === 'GET' && new URLSearchParams(query).has('groupBy')
      const found = isGrouped ? find('GET', `${address}/aggregate`) ?? find('GET', address) : find(method, address)
      if (!found) return undefined
      const { responses } = found.operation
      const response = resolve(document, responses[status] ?? responses.default)
      const isDocumented = responses[status] !== undefined || status >= 400
      if (!isDocumented) return [`the status ${status} is not documented`]
      const type = contentType?.split(';', 1)[0]
      if (body === undefined || body === '' || type === undefined) return []
      // Nitro renders errors as a page for clients that accept one.
      if (type === 'text/html' && status >= 400) return []
      const content = response.content?.[type]
      if (!content) return [`the media type ${type} is not documented for ${status}`]
      if (!type.includes('json') || !content.schema) return []
      return [...validate(content.schema, body), ...status >= 400 ? findCodeProblems(response, body) : []]
    },
  }
}

/** An error of the API has one of the documented codes. An app has codes of its own. */
function findCodeProblems(response: Document, body: unknown): string[] {
  const { data, code = data?.code } = body as { data?: { code?: string }, code?: string }
  const isKnown = code !== undefined && Object.hasOwn(ERRORS, code)
  return isKnown && !response['x-codes']?.includes(code) ? [`the code ${code} is not documented`] : []
}

const toPattern = (path: string) =>
  new RegExp(`^${path.split(/\{\w+\}/).map(part => part.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')).join('[^/]+')}$`)

const count = (path: string) => path.split('{').length
