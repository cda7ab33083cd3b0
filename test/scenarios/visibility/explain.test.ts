/** Every cell of the visibility matrix that refuses the caller, or hides the row, has an explanation that names the planted cause. */
import { beforeAll, describe, expect, it } from 'vitest'
import { useRuntime } from '../../../src/runtime/server/api/runtime'
import { explain } from '../../../src/runtime/server/explain/explain'
import { addRecorder, record } from '../../../src/runtime/server/explain/recorder'
import type { DecisionKind, Explanation } from '../../../src/runtime/shared/explanation'
import type { Cell } from '../../support/matrix/expected'
import { REASONS, rowOf, situationOf, type ReasonName } from '../../support/matrix/reasons'
import { ID, namingTenant } from '../../support/matrix/requests'
import { ALL_CELLS, cellAt, requestOf, type CellPosition, type MatrixApp } from '../../support/matrix/run'
import { createVisibilityApp } from './app'

/** The rule that each reason plants. Without a reason, only the tenant can hide the row. */
const PLANTED: Readonly<Record<ReasonName, DecisionKind>> = {
  'nothing hides the row': 'tenant',
  'the row is another tenant\'s': 'tenant',
  'the row is another tenant\'s, which the caller names': 'tenant',
  'listFilter refuses the row': 'listFilter',
  'rows of a plugin refuse the row': 'plugin rows',
  'objectLevel refuses the row': 'objectLevel',
  'the row is in the trash': 'trash',
  'the row is not in the trash': 'trash',
  'there is no such row': 'missing',
  'the permission is missing': 'permission',
  'the permission is false': 'permission',
  'the resource has no authorization': 'authorization',
}

/** Reasons that refuse the caller, not the row. */
const REFUSING: ReadonlySet<ReasonName> = new Set([
  'the permission is missing', 'the permission is false', 'the resource has no authorization',
])
/** Routes about tables, which only ask whether the caller is signed in. */
const ABOUT_TABLES: ReadonlySet<string> = new Set(['junctions', 'is a junction', 'detect junctions'])
/** Routes that say what the caller could do. */
const ABOUT_CALLER: ReadonlySet<string> = new Set(['all permissions', 'permissions on the resource', 'permissions on the row', 'schema'])

let app: MatrixApp
beforeAll(async () => {
  app = await createVisibilityApp()
  addRecorder(useRuntime().api())
})

async function explainCell({ reason, caller, name }: CellPosition): Promise<Explanation> {
  const request = requestOf(name)
  const situation = situationOf(reason, caller)
  const row = rowOf(situation, reason, request.ofTrash === true)
  const link = row && request.linked ? [{ article_id: ID, tag_id: 1 }] : []
  await app.putRows({ articles: row ? [{ id: ID, ...row }] : [], article_tags: link })
  const target = request.target(situation.resource)
  const [path, options] = 'namesTenant' in REASONS[reason] ? namingTenant(target, 2) : target
  const { result, recording } = await record(() => app.request(`/api${path}`, { ...options, caller: situation.caller }))
  return explain(useRuntime().api(), recording, {
    method: options?.method ?? 'GET', path: `/api${path}`, body: options?.body, status: result.status, response: result.body,
  })
}

/** The first rule that refuses or hides, in the order of the pipeline. */
function expectedKind({ reason, caller, name }: CellPosition, cell: Cell): DecisionKind {
  const { row, caller: { user, tenantId, staff, permissions } } = situationOf(reason, caller)
  if (ABOUT_TABLES.has(name)) return 'sign in'
  if (cell.endsWith('TENANT_REQUIRED')) return 'tenant'
  // '*' passes the permission. These callers have no tenant.
  const isSuperAdmin = permissions?.includes('*') && reason !== 'the resource has no authorization'
  if (REFUSING.has(reason) && !isSuperAdmin && (ABOUT_CALLER.has(name) || /^40[13]/.test(cell))) return PLANTED[reason]
  if (row === null) return 'missing'
  const tenant = tenantId ?? staff?.tenant ?? user?.organizationId
  const isForeign = Number(tenant) !== (row as { readonly organization_id: number }).organization_id
  return isForeign && !staff ? 'tenant' : PLANTED[reason]
}

/** For a list without the row, every rule that hides a row: the request can read rows of other tables too. */
function foundKinds({ decision, checks, rows }: Explanation, cell: Cell): DecisionKind[] {
  if (cell !== 'absent') return [decision.kind]
  const hiding = rows.flatMap(({ rules }) => rules.filter(({ hidden }) => hidden > 0))
  return [...checks.filter(({ passed }) => !passed), ...hiding].map(({ kind }) => kind)
}

/** No rule hides a row that does not exist from a list. */
const isExplained = (position: CellPosition, cell: Cell) =>
  cell !== 'done' && !(cell === 'absent' && expectedKind(position, cell) === 'missing')

let explained = 0

describe.each(Object.keys(REASONS) as ReasonName[])('when %s', (reason) => {
  const cells = ALL_CELLS.filter(position => position.reason === reason && isExplained(position, cellAt(position)))

  it(`the explanation of each of ${cells.length} cells names the cause`, async () => {
    const wrong: string[] = []
    for (const position of cells) {
      const cell = cellAt(position)
      const explanation = await explainCell(position)
      const [expected, found] = [expectedKind(position, cell), foundKinds(explanation, cell)]
      const { name, caller } = position
      if (!found.includes(expected)) wrong.push(`${name}, ${caller}: ${expected}, not ${found.join()}. ${explanation.decision.text}`)
      explained++
    }
    expect(wrong).toEqual([])
  }, 60_000)
})

it('covers the matrix', () => {
  console.info(`explanations: ${explained} cells of the visibility matrix`)
  expect(explained).toBeGreaterThan(2500)
})
