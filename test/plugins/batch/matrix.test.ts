/** Every cell of the visibility matrix that writes one record, as the only step of a batch, and after another step. */
import { beforeAll, describe } from 'vitest'
import { batch } from '../../../src/runtime/plugins'
import { createVisibilityApp } from '../../scenarios/visibility/app'
import type { MatrixResponse, RequestName, RequestOptions } from '../../support/matrix/requests'
import { ALL_CELLS, describeCells, type MatrixApp } from '../../support/matrix/run'

const WRITES: ReadonlySet<string> = new Set<RequestName>([
  'create', 'update', 'delete', 'restore', 'update with a stale tag', 'restore with a stale tag',
])

const OPERATIONS: Readonly<Record<string, string>> = { POST: 'create', PATCH: 'update', DELETE: 'delete' }

/** The step that does the same as a request. */
function toStep(path: string, { method = '', body, headers }: RequestOptions) {
  const [, resource, id, end] = /^\/api\/(\w+)(?:\/([^/?]+))?(\/restore)?/.exec(path)!
  const ifMatch = headers?.['if-match']
  return {
    resource, operation: end ? 'restore' : OPERATIONS[method],
    ...id !== undefined && { id }, ...body !== undefined && { data: body }, ...ifMatch !== undefined && { ifMatch },
  }
}

/** Answers each request by a batch, and what the batch says of the step as the response to the request. */
function asBatch({ request, rows, putRows }: MatrixApp, before: readonly object[]): MatrixApp {
  return {
    rows, putRows,
    async request(path, { caller, ...options }): Promise<MatrixResponse> {
      const step = toStep(path, options)
      const steps = [...before, step]
      const { status, body } = await request('/api/batch', { method: 'POST', body: { steps }, caller })
      if (status === 200) return { status: step.operation === 'create' ? 201 : 200, body: body.data.at(-1) }
      const { statusCode, code } = body.data.errors?.find(({ step }: { step: number }) => step === before.length) ?? {}
      return { status: statusCode ?? status, body: { data: { code: code ?? body.data.code } } }
    },
  }
}

describe.each([
  ['the only step of a batch', []],
  // It finds no row, and the step after it could depend on it.
  ['a step after another one', [{ resource: 'tags', operation: 'update', id: 1, data: {} }]],
] as const)('a write as %s', (_, before) => {
  let app: MatrixApp
  beforeAll(async () => {
    app = asBatch(await createVisibilityApp([batch()]), before)
  })

  describeCells(() => app, ALL_CELLS.filter(({ name }) => WRITES.has(name)))
})
