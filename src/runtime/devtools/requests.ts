/** Finds requests in the list of the recorded ones. */
import type { RecordedRequest } from '../shared/devtools'

export interface RequestFilter {
  /** Words that a request contains, in any order. */
  readonly text: string
  readonly errorsOnly: boolean
}

/** A request without a status has not been answered yet, or its connection has closed. */
export const hasFailed = ({ status, code }: Pick<RecordedRequest, 'status' | 'code'>): boolean =>
  code !== undefined || (status !== undefined && status >= 400)

export function filterRequests(requests: readonly RecordedRequest[], { text, errorsOnly }: RequestFilter): RecordedRequest[] {
  const words = text.toLowerCase().split(/\s+/).filter(word => word !== '')
  return requests.filter((request) => {
    if (errorsOnly && !hasFailed(request)) return false
    const content = contentOf(request)
    return words.every(word => content.includes(word))
  })
}

function contentOf({ method, path, status, code, resource, operation, route, rule, cache }: RecordedRequest): string {
  return [method, path, status, code, resource, operation, route, rule, cache].join(' ').toLowerCase()
}
