/** Where a foreign key in a body may point: at a row the caller can see. Missing and invisible are the same answer. */
import { isDeepStrictEqual } from 'node:util'
import { is, SQL } from 'drizzle-orm'
import type { ForeignKeyFacts } from '../../../schema/drizzle/foreign-keys'
import type { Field } from '../../../schema/field'
import type { Resource } from '../../../schema/model'
import type { Call } from '../../context'
import { invalidReference } from '../../error'
import { select } from '../../access/fields'
import type { ReadPlan } from '../../plan/read-plan'
import type { WritePlan } from '../../plan/write'
import { inTuples } from '../../sql/list/index'
import { tupleKey } from '../../sql/tuple-key'
import { applyScope, type Scoped } from '../../access/row-scope'
import { withoutError, type Item, type Reference } from './items'
import { targetColumns } from './targets'
import { decoder, valuesAt } from '../rows/decode'
import { readRows, type Rows } from '../rows/rows'

/**
 * One statement per foreign key, for all items. Keys to unregistered tables are the database's to check.
 *
 * @param when `'commit'`: where SQL alone can tell, nothing is read here, for the commit looks at all of them once more
 * (`referenceSteps`) and most are right. After one that found a wrong one, `'now'` tells of which item.
 * @param isChecked a key whose rows have been looked at by other ways.
 */
export async function checkReferences(
  plan: Scoped<WritePlan>,
  items: readonly Item[],
  call: Call,
  when: 'now' | 'commit',
  isChecked?: (key: ForeignKeyFacts) => boolean,
): Promise<void> {
  for (const item of items) item.references = undefined
  for (const key of plan.resource.foreignKeys) {
    if (isChecked?.(key)) continue
    const target = [...call.api.resources.values()].find(resource => resource.table === key.foreignTable)
    const reach = referenceScopeOf(plan.resource, key)
    if (!target || reach === 'any') continue
    const asked = withoutError(items).flatMap((item) => {
      const values = changedReference(plan, key, item)
      return values ? [{ item, values: values.map((value, index) => target.fields.get(key.foreignColumns[index]!)!.encode(value)) }] : []
    })
    if (asked.length === 0) continue
    const known = await planTargets(
      target,
      key,
      asked.map(({ values }) => values),
      reach,
      call,
    )
    const read = when === 'now' || !isCheckedByCommit(known) ? await findTargets(known, call) : undefined
    const found = read && new Set(read.rows.map(row => tupleKey(valuesAt(read.columns, known.fields)(row))))
    // What code judged is looked at in the commit once more, by what code was given.
    const pointedAt: Target = known.plan.accepts ? { ...known, judged: read } : known
    for (const { item, values } of asked) {
      // A schema may make a hidden column of what was sent under another name.
      const isTold = (name: string) => !item.sentKeys || item.sentKeys.includes(name) || plan.selection.byName.has(name)
      const name = key.columns.find(name => item.sent.includes(name) && isTold(name))
      if (!found || found.has(tupleKey(values))) item.references = [...(item.references ?? []), { target: pointedAt, name, values }]
      else item.error = invalidReference(name)
    }
  }
}

/** Code judges no rows, and no collation takes another spelling for the key. */
function isCheckedByCommit({ plan, fields }: Target): boolean {
  return !plan.accepts && fields.every(({ kind }) => kind === 'integer' || kind === 'bigint')
}

type ReferenceScope = 'visible' | 'tenant' | 'any'

/** From the most lenient to the strictest. */
const REFERENCE_SCOPES: readonly ReferenceScope[] = ['any', 'tenant', 'visible']

/** Of a composite key the most lenient rule that is given counts. */
function referenceScopeOf({ auth }: Resource, { columns }: ForeignKeyFacts): ReferenceScope {
  const rules = columns.map(name => (auth?.fields?.[name as never] as { reference?: ReferenceScope } | undefined)?.reference)
  return REFERENCE_SCOPES.find(reach => rules.includes(reach)) ?? 'visible'
}

/** The key's values when the client sent one of them and it changes something; a value a hook has set is trusted. */
function changedReference(
  plan: Scoped<WritePlan>,
  { columns }: ForeignKeyFacts,
  { sent, values, original, row }: Item,
): readonly unknown[] | undefined {
  const own = columns.filter(name => sent.includes(name) && Object.hasOwn(values, name) && isDeepStrictEqual(values[name], original[name]))
  if (own.length === 0) return undefined
  const before = row && decoder(targetColumns(plan))(row)
  const whole = columns.map(
    name =>
      values[name]
      ?? (name === plan.resource.tenant?.name ? plan.tenantId : undefined)
      ?? (before ? before[name] : defaultOf(plan.resource.fields.get(name)!)),
  )
  if (whole.some(value => value === null || value === undefined)) return undefined
  return before && columns.every((name, index) => isDeepStrictEqual(before[name], whole[index])) ? undefined : whole
}

/** What the table puts in a new row's column that nobody set: part of a composite key may be left to it. */
function defaultOf({ column }: Field): unknown {
  return is(column.default, SQL) ? undefined : column.default ?? column.defaultFn?.()
}

type Target = Reference['target']

async function planTargets(
  target: Resource,
  key: ForeignKeyFacts,
  tuples: readonly (readonly unknown[])[],
  reach: ReferenceScope,
  call: Call,
): Promise<Target> {
  const fields = key.foreignColumns.map(name => target.fields.get(name)!)
  const read: ReadPlan = {
    resource: target,
    trash: 'active',
    selection: select(target, field => fields.includes(field)),
    where: [inTuples(call.engine, fields, tuples)],
    order: [],
    count: false,
    include: [],
  }
  return { plan: await applyScope(call, read, 'read', reach === 'tenant' ? 'tenant' : 'all'), fields }
}

const findTargets = ({ plan }: Target, call: Call): Promise<Rows> => readRows(plan, { cursor: true }, call)
