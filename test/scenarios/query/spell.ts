/** Queries in the forms a client can write: JSON or brackets, text or objects, lists with commas or repeated. */
import { MODEL, type Kind } from '../../support/oracle/model'
import {
  aliasOf,
  nameOf,
  type Aggregate,
  type AnyCondition,
  type Combination,
  type CountCondition,
  type Condition,
  type Filter,
  type GroupQuery,
  type Include,
  type ListQuery,
  type Sort,
} from '../../support/oracle/query'
import type { Spelling } from './generate'

export type Place = { page: number, count: boolean } | { cursor: string }

export function spellList(
  resource: string,
  query: ListQuery,
  place: Place,
  aggregates: readonly Aggregate[],
  spelling: Spelling,
): URLSearchParams {
  const params = new URLSearchParams(spellFilter(resource, query.filter, spelling))
  const list = (name: string, values: readonly string[]) => addList(params, name, values, spelling.repeat)
  list('sort', query.sort.map(spellSort))
  list('cursorFields', query.cursorFields.map(spellSort))
  list('fields', query.fields ?? [])
  list('counts', query.counts)
  list('aggregate', aggregates.map(spellAggregate))
  if (query.include.length > 0)
    params.set(
      'include',
      spelling.include === 'json'
        ? JSON.stringify(toJson(resource, query.include, spelling))
        : toText(resource, query.include, spelling).join(','),
    )
  params.set('limit', String(query.limit))
  if (query.trash === 'both') params.set('includeDeleted', 'true')
  if (query.trash === 'trashed') params.set('onlyDeleted', 'true')
  if ('cursor' in place) params.set('cursor', place.cursor)
  else {
    params.set('page', String(place.page))
    if (!place.count) params.set('count', 'none')
  }
  return params
}

export function spellGroups(resource: string, query: GroupQuery, spelling: Spelling): URLSearchParams {
  const params = new URLSearchParams(spellFilter(resource, query.filter, spelling))
  const list = (name: string, values: readonly string[]) => addList(params, name, values, spelling.repeat)
  list('aggregate', query.aggregates.map(spellAggregate))
  list('groupBy', query.groupBy)
  list('sort', query.sort.map(spellSort))
  if (query.having.length > 0) {
    const entries = query.having.map(({ alias, operator, value }): [string, object] => {
      const field = query.aggregates.find(aggregate => aliasOf(aggregate) === alias)!
      const column = field.function === 'min' || field.function === 'max' ? MODEL[resource]!.fields[field.field!]! : 'real'
      return [alias, { [operator]: jsonOf(column, value, false) }]
    })
    params.set('having', JSON.stringify(Object.fromEntries(entries)))
  }
  params.set('page', String(query.page))
  params.set('limit', String(query.limit))
  return params
}

function addList(params: URLSearchParams, name: string, values: readonly string[], repeat: boolean): void {
  if (values.length === 0) return
  if (repeat) for (const value of values) params.append(name, value)
  else params.set(name, values.join(','))
}

const spellSort = ({ field, descending }: Sort) => `${descending ? '-' : ''}${field}`
const spellAggregate = ({ function: name, field }: Aggregate) => field === undefined ? name : `${name}(${field})`

function spellFilter(resource: string, filter: Filter, spelling: Spelling): [string, string][] {
  if (filter.and.length === 0 && filter.or.length === 0) return []
  return spelling.filter === 'json'
    ? [['filter', JSON.stringify(filterJson(resource, filter, spelling))]]
    : filterBrackets(resource, filter, spelling)
}

function filterJson(resource: string, { and, or }: Filter, spelling: Spelling): object {
  const all = (conditions: readonly AnyCondition[]) =>
    Object.fromEntries(conditions.map(condition => [nameOf(condition), anyJson(resource, condition, spelling)]))
  return { ...all(and), ...or.length > 0 && { $or: or.map(all) } }
}

function anyJson(resource: string, condition: AnyCondition, spelling: Spelling): unknown {
  if ('combine' in condition) return combinationJson(resource, condition, spelling)
  if ('field' in condition) return conditionJson(MODEL[resource]!.fields[condition.field]!, condition.operators, spelling)
  if ('count' in condition) return { $count: countJson(condition, spelling) }
  if (typeof condition.some !== 'string')
    return filterJson(MODEL[resource]!.relations[condition.relation]!.target, { and: condition.some, or: [] }, spelling)
  if (spelling.short) return condition.some === 'none' ? null : { $ne: null }
  return { $null: condition.some === 'none' }
}

function countJson({ count: [first, ...rest] }: CountCondition, { short }: Spelling): unknown {
  const [name, number] = first!
  return short && rest.length === 0 && name === '$eq' ? number : Object.fromEntries([first!, ...rest])
}

function combinationJson(resource: string, { combine, branches, of }: Combination, spelling: Spelling): unknown {
  const inBranch = (conditions: readonly AnyCondition[]) => of === undefined
    ? filterJson(resource, { and: conditions, or: [] }, spelling)
    : conditionJson(MODEL[resource]!.fields[of]!, (conditions[0] as Condition).operators, { ...spelling, short: false })
  const content = combine === '$not' ? inBranch(branches[0]!) : branches.map(inBranch)
  return of === undefined ? content : { [combine]: content }
}

function conditionJson(kind: Kind, operators: Condition['operators'], { short }: Spelling): unknown {
  const of = (value: unknown): unknown => Array.isArray(value) ? value.map(of) : jsonOf(kind, value, short)
  const [[name, value]] = operators as [[string, unknown]]
  if (short && operators.length === 1) {
    if (name === '$eq' || name === '$in') return of(value)
    if (name === '$null' && value === true) return null
  }
  return Object.fromEntries(operators.map(([name, value]) => [name, name === '$null' ? value : of(value)]))
}

/** @param short numbers where the wire form is a string but a number is understood. */
function jsonOf(kind: Kind, value: unknown, short: boolean): unknown {
  if (value === null) return null
  if (kind === 'date') return spellDate(value as Date, short)
  if (kind === 'bigint') return short && Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  return kind === 'decimal' && short && String(Number(value)) === value ? Number(value) : value
}

/** The same moment as another clock says it, or as a day alone. */
function spellDate(date: Date, short: boolean): string {
  const text = date.toISOString()
  if (!short) return text
  return text.endsWith('T00:00:00.000Z') ? text.slice(0, 10) : new Date(date.getTime() + 7_200_000).toISOString().replace('Z', '+02:00')
}

function filterBrackets(resource: string, { and, or }: Filter, { short, repeat }: Spelling): [string, string][] {
  const all = (prefix: string, conditions: readonly AnyCondition[], of = resource): [string, string][] =>
    conditions.flatMap((condition) => {
      if ('combine' in condition) {
        const path = condition.of === undefined ? `${prefix}[${condition.combine}]` : `${prefix}[${condition.of}][${condition.combine}]`
        return condition.branches.flatMap((branch, index) => {
          const at = condition.combine === '$not' ? path : `${path}[${index}]`
          return condition.of === undefined
            ? all(at, branch, of)
            : ofField(at, MODEL[of]!.fields[condition.of]!, (branch[0] as Condition).operators, false)
        })
      }
      if (!('field' in condition)) {
        const path = `${prefix}[${condition.relation}]`
        if ('count' in condition) return ofField(`${path}[$count]`, 'integer', condition.count, short && condition.count.length === 1)
        return typeof condition.some === 'string'
          ? [[`${path}[$null]`, String(condition.some === 'none')]]
          : all(path, condition.some, MODEL[of]!.relations[condition.relation]!.target)
      }
      const { field, operators } = condition
      return ofField(`${prefix}[${field}]`, MODEL[of]!.fields[field]!, operators, short && operators.length === 1)
    })
  const ofField = (prefix: string, kind: Kind, operators: Condition['operators'], alone: boolean) =>
    operators.flatMap(([name, value]): [string, string][] => {
      const path = alone && name === '$eq' ? prefix : `${prefix}[${name}]`
      if (!Array.isArray(value)) return [[path, name === '$null' ? String(value) : textOf(kind, value, short)]]
      const texts = value.map(item => textOf(kind, item, short))
      return repeat ? texts.map(text => [`${path}[]`, text]) : [[path, texts.join(',')]]
    })
  return [...all('filter', and), ...or.flatMap((branch, index) => all(`filter[$or][${index}]`, branch))]
}

function textOf(kind: Kind, value: unknown, short: boolean): string {
  if (kind === 'date') return spellDate(value as Date, short)
  return kind === 'boolean' && short ? String(Number(value)) : String(value)
}

function toJson(resource: string, include: readonly Include[], spelling: Spelling): object {
  return Object.fromEntries(include.map((node) => {
    const { target } = MODEL[resource]!.relations[node.relation]!
    const options = {
      ...node.fields && { fields: spelling.repeat ? node.fields : node.fields.join(',') },
      ...node.limit !== undefined && { limit: node.limit },
      ...node.sort.length > 0 && { sort: spelling.repeat ? node.sort.map(spellSort) : node.sort.map(spellSort).join(',') },
      ...node.filter && { filter: filterJson(target, node.filter, spelling) },
      ...node.counts.length > 0 && { counts: spelling.repeat ? node.counts : node.counts.join(',') },
      ...node.include.length > 0 && { include: toJson(target, node.include, spelling) },
    }
    return [node.relation, spelling.short && Object.keys(options).length === 0 ? true : options]
  }))
}

function toText(resource: string, include: readonly Include[], spelling: Spelling, prefix = ''): string[] {
  return include.flatMap((node) => {
    const { target } = MODEL[resource]!.relations[node.relation]!
    const options = [
      ...node.limit !== undefined ? [`limit:${node.limit}`] : [],
      ...node.sort.map(sort => `sort:${spellSort(sort)}`),
      ...node.counts.map(name => `counts:${name}`),
      ...node.filter ? [`filter:${JSON.stringify(filterJson(target, node.filter, spelling))}`] : [],
    ]
    const own = `${prefix}${node.relation}${node.fields ? `[${node.fields.join(',')}]` : ''}${options.length > 0 ? `{${options.join(',')}}` : ''}`
    return [own, ...toText(target, node.include, spelling, `${prefix}${node.relation}.`)]
  })
}
