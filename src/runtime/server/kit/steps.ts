/** Several writes of a request in one commit. */
import type { Api } from '../core/api'
import { parseSteps, type GivenStep } from '../core/entries/steps/parse'
import { runSteps } from '../core/entries/steps/run'
import type { ApiResponse } from '../core/extensions/response'
import { dryRunHeaders } from '../core/parse/dry-run'
import { refuseIfMatch } from '../core/parse/if-match'
import { allowEveryone, handleRequest } from '../core/pipeline'
import type { ApiRequest } from '../core/request/api-request'

export { type GivenStep, isReference } from '../core/entries/steps/parse'

export interface StepsOptions {
  /** The name of the route, for `around` of plugins. */
  readonly name: string
  readonly maxSteps: number
}

/**
 * Answers a request whose body is `{ steps }`. The request counts once for each operation of its steps. A body that is no batch counts as a
 * create.
 * @throws 400 for a body of another form, `BULK_FAILED` with the steps that fail
 */
export async function answerSteps(request: ApiRequest, api: Api, { name, maxSteps }: StepsOptions): Promise<ApiResponse> {
  const steps = await parse(request, maxSteps)
  const [first = 'create', ...others] = new Set(steps instanceof Error ? [] : steps.map(({ operation }) => operation))
  return handleRequest(api, request, undefined, {
    name,
    idempotent: true,
    operations: [first, ...others],
    parameters: () => [],
    // Each step is authorized as a request of its own.
    authorize: allowEveryone,
    async run(session) {
      refuseIfMatch(request, 'Send `ifMatch` with each step.')
      if (steps instanceof Error) throw steps
      const data = await runSteps(steps, session)
      const { dryRun } = session.ctx
      return { status: 200, body: { data, meta: { steps: steps.length } }, ...dryRun && { headers: dryRunHeaders(request) } }
    },
  })
}

/** An error of the body is the answer after plugins have counted the request and found its caller, as for other routes. */
const parse = async (request: ApiRequest, maxSteps: number): Promise<readonly GivenStep[] | Error> =>
  request.body().then(body => parseSteps(body, maxSteps)).catch((error: Error) => error)
