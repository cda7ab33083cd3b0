/** `explainAccess`: says which rule decided about a request. */
import type { ServerApi } from '../../server/api/create'
import { explain } from '../../server/explain/explain'
import { addRecorder, record } from '../../server/explain/recorder'
import { toText, type Explanation } from '../../shared/explanation'
import type { TestRequest } from './client'
import type { TestApi } from './create'
import { findServer } from './local'

export interface ExplainedRequest<Name extends string = string> extends Pick<TestRequest, 'body' | 'query'> {
  /** The caller. @default 'anonymous' */
  readonly as?: Name
  /** @default 'GET' */
  readonly method?: string
  /** The path below the prefix: `/posts/1`. */
  readonly path: string
}

/** An explanation, which a failed expectation prints as text. */
export interface AccessExplanation extends Explanation {
  /** The explanation as lines for people. */
  readonly toString: () => string
}

const recorded = new WeakSet<ServerApi>()

/**
 * Sends a request and explains its response: which rule refused the caller, or which rules hide rows. A write is a dry run.
 * @throws When the API does not run in this process.
 * @example
 * const { decision } = await explainAccess(api, { as: 'ann', path: '/posts/7' })
 * expect(decision).toMatchObject({ kind: 'listFilter', rule: 'posts.authorization.listFilter' })
 */
export async function explainAccess<Name extends string>(
  api: TestApi<Name>, { as = 'anonymous' as Name, method = 'GET', path, body, query }: ExplainedRequest<Name>,
): Promise<AccessExplanation> {
  const server = findServer(api)
  if (!server) throw new Error('[auto-api] explainAccess() needs an API in this process: `createTestApi({ resources, database, … })`.')
  if (!recorded.has(server)) {
    recorded.add(server)
    addRecorder(server)
  }
  const sent = { ...body !== undefined && { body }, query: { ...query, ...method !== 'GET' && { dryRun: true } } }
  const { result: { status, body: response }, recording } = await record(() => api.as(as).request(method, path, sent))
  const explanation = await explain(server, recording, { method, path: server.config.prefix + path, body, status, response })
  return { ...explanation, toString: () => toText(explanation) }
}
