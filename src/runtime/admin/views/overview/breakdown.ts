/** The numbers of a resource on the overview: one request groups its records by a field with few values. */
import type { AdminColor } from '../../../shared/types/admin'
import type { DescribedResource } from '../../../shared/types/description'
import type { Groups, Query } from '../../../app/any-resource'

/** More parts than this are no picture. */
const MAX_PARTS = 8

/** Names of fields that say most about a record, best first. */
const TELLING = ['status', 'state', 'stage', 'phase']

/** Returns the enum that the overview counts records by, such as `status`. `undefined` if the caller can read no enum with few values. */
export function partField({ fields }: Pick<DescribedResource, 'fields'>): string | undefined {
  const names = Object.keys(fields).filter((name) => {
    const { enum: values = [], readable, lazy, sortable } = fields[name]!
    return readable && !lazy && sortable && values.length > 1 && values.length < MAX_PARTS
  })
  return TELLING.find(name => names.includes(name)) ?? names[0]
}

/** Returns the column with the time of the newest record. */
export const newestField = ({ fields }: Pick<DescribedResource, 'fields'>): string | undefined =>
  Object.keys(fields).find((name) => {
    const { role, readable, aggregates } = fields[name]!
    return role === 'createdAt' && readable && aggregates.includes('max')
  })

/** Returns the aggregate that counts the records. */
export function countRequest(resource: Pick<DescribedResource, 'fields'>): Query {
  const [part, newest] = [partField(resource), newestField(resource)]
  return {
    aggregate: ['count', ...newest === undefined ? [] : [`max(${newest})`]],
    ...part !== undefined && { groupBy: [part], limit: MAX_PARTS },
  }
}

export interface Part {
  /** `null` for records without a value. */
  readonly value: string | null
  readonly count: number
}

export interface Breakdown {
  readonly total: number
  /** The values of the field with records, in the order of the enum. */
  readonly parts: readonly Part[]
  /** The time of the newest record. */
  readonly newest?: string
}

export function toBreakdown(resource: Pick<DescribedResource, 'fields'>, { data }: Groups): Breakdown {
  const [field, newestOf] = [partField(resource), newestField(resource)]
  const times = newestOf === undefined ? [] : data.flatMap(row => row[`max_${newestOf}`] as string | null ?? [])
  const order = field === undefined ? [] : resource.fields[field]!.enum!
  const rank = ({ value }: Part) => value === null ? order.length : order.indexOf(value)
  const groupOf = ({ group }: Groups['data'][number]) => (group ?? {}) as Readonly<Record<string, string | null>>
  const parts = field === undefined ? [] : data.map((row): Part => ({ value: groupOf(row)[field] ?? null, count: row.count ?? 0 }))
  return {
    total: data.reduce((sum, { count = 0 }) => sum + count, 0),
    parts: parts.filter(({ count }) => count > 0).sort((a, b) => rank(a) - rank(b)),
    newest: times.sort().at(-1),
  }
}

/** Shades of a color, so that parts with one color differ. */
const SHADES = [500, 300, 600, 400, 700, 200]

/** Returns the CSS color of each part. */
export function shadesOf(colors: readonly AdminColor[]): string[] {
  return colors.map((color, index) => {
    const earlier = colors.slice(0, index).filter(other => other === color).length
    return `var(--ui-color-${color}-${SHADES[earlier % SHADES.length]})`
  })
}
