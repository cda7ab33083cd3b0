/** Several writes of a request in one commit. */
import type { Api } from '../core/api'
import { parseSteps } from '../core/entries/steps/parse'
import { runSteps } from '../core/entries/steps/run'
import type { ApiResponse } from '../core/extensions/response'
import { dryRunHeaders } from '../core/parse/dry-run'
import { allowEveryone, handleRequest } from '../core/pipeline'
import type { ApiRequest } from '../core/request/api-request'

export interface StepsOptions {
  /** The name of the route, for `around` of plugins. */
  readonly name: string
  readonly maxSteps: number
}

/**
 * Answers a request whose body is `{ steps }`. The request counts once for each operation of its steps.
 * @throws 400 for a body of another form, `BULK_FAILED` with the steps that fail
 */
export async function answerSteps(request: ApiRequest, api: Api, { name, maxSteps }: StepsOptions): Promise<ApiResponse> {
  const steps = parseSteps(await request.body(), maxSteps)
  const [first, ...others] = new Set(steps.map(({ operation }) => operation))
  return handleRequest(api, request, undefined, {
    name,
    idempotent: true,
    operations: [first!, ...others],
    // Each step is authorized as a request of its own.
    authorize: allowEveryone,
    async run(session) {
      const data = await runSteps(steps, session)
      const { dryRun } = session.ctx
      return { status: 200, body: { data, meta: { steps: steps.length } }, ...dryRun && { headers: dryRunHeaders(request) } }
    },
  })
}
