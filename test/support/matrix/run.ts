/** Runs cells of the visibility matrix: every kind of request, by every kind of caller, for a row that is invisible for every reason. */
import { describe, expect, it } from 'vitest'
import { ROUTES } from '../../../src/runtime/shared/routes'
import { EXPECTED, type Cell } from './expected'
import { PLUGIN_REQUESTS, pluginCell } from './plugin-routes'
import { CALLERS, REASONS, rowOf, situationOf, twinOf, type CallerName, type Reason, type ReasonName, type Situation } from './reasons'
import {
  changesBetween, ID, namingTenant, REQUESTS,
  type Change, type MatrixResponse, type PluginRouteName, type Request, type RequestName, type RequestOptions, type Rows,
} from './requests'

/** The visibility app, in this process or built. */
export interface MatrixApp {
  readonly request: (path: string, options: RequestOptions) => Promise<MatrixResponse>
  readonly rows: () => Promise<Rows>
  /** Resets the tables and inserts these rows. @returns every row afterwards. */
  readonly putRows: (rows: Record<string, object[]>) => Promise<Rows>
}

export interface CellPosition {
  readonly reason: ReasonName
  readonly caller: CallerName
  readonly name: RequestName | PluginRouteName
}

export const requestOf = (name: CellPosition['name']): Request => PLUGIN_REQUESTS.get(name) ?? REQUESTS[name as RequestName]

const REASON_NAMES = Object.keys(REASONS) as ReasonName[]
const CALLER_NAMES = Object.keys(CALLERS) as CallerName[]
const GENERATED_NAMES = Object.keys(REQUESTS) as RequestName[]
export const REQUEST_NAMES = [...GENERATED_NAMES, ...PLUGIN_REQUESTS.keys()] as (RequestName | PluginRouteName)[]

export const ALL_CELLS: readonly CellPosition[] = REASON_NAMES.flatMap(reason =>
  CALLER_NAMES.flatMap(caller => REQUEST_NAMES.map(name => ({ reason, caller, name }))),
)

/** Each request of each caller once. The reasons take turns, so every reason occurs for every caller. */
export const SMOKE_CELLS: readonly CellPosition[] = CALLER_NAMES.flatMap((caller, row) =>
  REQUEST_NAMES.map((name, column) => ({ reason: REASON_NAMES[(row + column) % REASON_NAMES.length]!, caller, name })))

/** A new route, reason or caller makes the matrix larger; it never gets smaller. */
const CELLS_AT_LEAST = 4896

export function cellAt({ reason, caller, name }: CellPosition): Cell {
  const request = PLUGIN_REQUESTS.get(name)
  return request ? pluginCell(request, reason, caller) : EXPECTED[reason][caller][name as RequestName]
}

/** The matrix itself: it has a row for every route, and a cell for every request of every caller. */
export function describeMatrix(): void {
  const requests: { name: RequestName, request: Request }[] = GENERATED_NAMES.map(name => ({ name, request: REQUESTS[name] }))

  describe('the matrix', () => {
    it.each(ROUTES)('has a request for every generated route: $method $path', ({ name }) => {
      expect(requests.map(({ request }) => request.route)).toContain(name)
    })

    it.each(requests)('has only requests of generated routes and of plugins: $name', ({ request }) => {
      expect(ROUTES.map(({ name }) => name)).toContain(request.route)
    })

    it.each(REASON_NAMES)('has a cell for every request of every caller when %s', (reason) => {
      expect(Object.keys(EXPECTED[reason]).sort()).toEqual([...CALLER_NAMES].sort())
      for (const caller of CALLER_NAMES) expect(Object.keys(EXPECTED[reason][caller]).sort()).toEqual([...GENERATED_NAMES].sort())
    })

    it(`has at least ${CELLS_AT_LEAST} cells`, () => {
      expect(ALL_CELLS.length).toBe(REASON_NAMES.length * CALLER_NAMES.length * REQUEST_NAMES.length)
      expect(ALL_CELLS.length).toBeGreaterThanOrEqual(CELLS_AT_LEAST)
    })
  })
}

/** One test per cell. A cell that refuses also sends the same request with a caller and a row for which it succeeds. */
export function describeCells(app: () => MatrixApp, cells: readonly CellPosition[]): void {
  // Sets, because a retried test visits its cell again.
  const visited = { cells: new Set<string>(), refused: new Set<string>(), twins: new Set<string>() }

  for (const [situation, positions] of Map.groupBy(cells, ({ reason, caller }) => `when ${reason}, for ${caller}`)) {
    describe(situation, () => {
      it.each(positions.map(position => ({ ...position, cell: cellAt(position) })))(
        '$name: $cell',
        async ({ reason, caller, name, cell }) => {
          const { namesTenant = false }: Reason = REASONS[reason]
          const key = [reason, caller, name].join()
          visited.cells.add(key)
          const result = await send(app(), name, situationOf(reason, caller), reason, namesTenant)
          if (cell === 'done') return expectDone(name, result)

          visited.refused.add(key)
          expectNotSeen(name, cell, result)
          // The same request succeeds without the reason: the reason alone caused the refusal.
          expectDone(name, await send(app(), name, twinOf(reason)))
          visited.twins.add(key)
        },
      )
    })
  }

  describe('the run', () => {
    it('visits every cell, and the successful request of every cell that refuses', () => {
      console.info(`visibility matrix: ${visited.cells.size} of ${ALL_CELLS.length} cells, ${visited.refused.size} of them refuse`)
      expect(visited.cells.size).toBe(cells.length)
      expect(visited.twins).toEqual(visited.refused)
    })
  })
}

/** Sends a request for a visible row, unless the situation has another one, and checks the response and every changed row. */
export async function expectCell(app: MatrixApp, name: CellPosition['name'], situation: Situation, cell: Cell): Promise<void> {
  const result = await send(app, name, situation)
  if (cell === 'done') expectDone(name, result)
  else expectNotSeen(name, cell, result)
}

interface Result {
  readonly response: MatrixResponse
  readonly situation: Situation
  /** The row before the request. */
  readonly was: object
  readonly changes: readonly Change[]
}

async function send(
  app: MatrixApp,
  name: CellPosition['name'],
  situation: Situation,
  reason?: ReasonName,
  namesTenant = false,
): Promise<Result> {
  const request = requestOf(name)
  const row = rowOf(situation, reason, request.ofTrash === true)
  const link = row && request.linked ? [{ article_id: ID, tag_id: 1 }] : []
  const before = await app.putRows({ articles: row ? [{ id: ID, ...row }] : [], article_tags: link })
  const target = request.target(situation.resource)
  const [path, options] = namesTenant ? namingTenant(target, 2) : target
  const response = await app.request(`/api${path}`, { ...options, caller: situation.caller })
  return { response, situation, was: before.articles?.[ID] ?? {}, changes: changesBetween(before, await app.rows()) }
}

function expectNotSeen(name: CellPosition['name'], cell: Cell, { response, situation, changes }: Result): void {
  const { status, shows } = requestOf(name)
  if (cell === 'absent')
    expect({ status: response.status, shows: shows?.(response, situation.resource) ?? false }).toEqual({ status, shows: false })
  else expect(`${response.status} ${response.body.data?.code}`).toBe(cell)
  expect(changes).toEqual([])
}

function expectDone(name: CellPosition['name'], { response, situation, was, changes }: Result): void {
  const { status, changes: expected, shows } = requestOf(name)
  expect({ status: response.status, ...response.status !== status && { body: response.body } }).toEqual({ status })
  if (shows) expect(shows(response, situation.resource)).toBe(true)
  expect(changes).toEqual(expected(was, tenantOf(situation.caller)))
}

function tenantOf({ tenantId, user, staff }: Situation['caller']): number {
  return tenantId ?? staff?.tenant ?? Number(user?.organizationId)
}
