/** What the random queries happened to touch: counted, told, and asserted, so that a case that never occurs is noticed. */
import { MODEL, type Row } from '../../support/oracle/model'
import { kindOf } from '../../support/oracle/rows'
import type { AnyCondition, CountCondition, Filter, GroupQuery, Include, ListQuery, RelatedCondition } from '../../support/oracle/query'

/** Everything that must have occurred. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  'operator': ['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$like', '$in', '$nin', '$null', '$or', '$eq null', '$ne null',
    '$between', '$notLike', '$startsWith', '$endsWith', '$contains', '$eqi'],
  'combined': ['$and', '$or', '$not', '$and of a field', '$or of a field', '$not of a field'],
  'related': ['one', 'many', 'manyToMany', 'self', 'composite', 'bigint', 'any', 'none', 'nested'],
  'number': ['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', 'many', 'manyToMany', 'self', 'composite', 'bigint', 'two'],
  'filtered by': ['text', 'integer', 'real', 'boolean', 'date', 'bigint', 'decimal', 'json', 'blob'],
  'ordered by': ['text', 'integer', 'real', 'boolean', 'date', 'bigint', 'decimal'],
  'sorted by': ['one', 'many', 'manyToMany', 'self', 'composite', 'bigint', 'nested'],
  'grouped by': ['text', 'integer', 'real', 'boolean', 'date', 'bigint', 'decimal'],
  'relation': ['one', 'many', 'manyToMany', 'self', 'composite', 'bigint'],
  'counted': ['many', 'manyToMany', 'self', 'composite', 'bigint', 'included'],
  'include': ['limit', 'sort', 'filter', 'fields', 'nested'],
  'form': ['filter json', 'filter brackets', 'include json', 'include text'],
  'function': ['count', 'sum', 'avg', 'min', 'max', 'having'],
  'trash': ['active', 'trashed', 'both'],
  'cursor': ['page', 'NULL', 'tie', 'inserted', 'deleted'],
}

export class Coverage {
  private readonly counts = new Map<string, number>()
  private answers = 0
  private filled = 0

  count(kind: string, what: string): void {
    const key = `${kind}: ${what}`
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1)
  }

  answer(rows: number): void {
    this.answers++
    if (rows > 0) this.filled++
  }

  filter(resource: string, { and, or }: Filter): void {
    const all = (conditions: readonly AnyCondition[]): void => conditions.forEach((condition) => {
      if ('combine' in condition) {
        this.count('combined', condition.of === undefined ? condition.combine : `${condition.combine} of a field`)
        return condition.branches.forEach(all)
      }
      if ('count' in condition) return this.number(resource, condition)
      if (!('field' in condition)) return this.related(resource, condition)
      const { field, operators } = condition
      this.count('filtered by', MODEL[resource]!.fields[field]!)
      for (const [name, value] of operators) this.count('operator', value === null ? `${name} null` : name)
    })
    all(and)
    or.forEach(all)
    if (or.length > 0) this.count('operator', '$or')
  }

  private related(resource: string, { relation, some }: RelatedCondition): void {
    const { kind, trait, target } = MODEL[resource]!.relations[relation]!
    this.count('related', kind)
    if (trait) this.count('related', trait)
    if (typeof some === 'string') return this.count('related', some)
    if (some.some(condition => 'relation' in condition)) this.count('related', 'nested')
    this.filter(target, { and: some, or: [] })
  }

  private number(resource: string, { relation, count }: CountCondition): void {
    const { kind, trait } = MODEL[resource]!.relations[relation]!
    this.count('number', kind)
    if (trait) this.count('number', trait)
    for (const [name] of count) this.count('number', name)
    if (count.length > 1) this.count('number', 'two')
  }

  list(resource: string, query: ListQuery): void {
    this.filter(resource, query.filter)
    for (const { field } of [...query.sort, ...query.cursorFields]) {
      this.count('ordered by', kindOf(resource, field))
      this.path(resource, field)
    }
    this.count('trash', query.trash)
    this.counted(resource, query.counts)
    this.include(resource, query.include)
  }

  private path(resource: string, path: string): void {
    const [name, ...rest] = path.split('.')
    if (rest.length === 0) return
    const { kind, trait, target } = MODEL[resource]!.relations[name!]!
    this.count('sorted by', kind)
    if (trait) this.count('sorted by', trait)
    if (rest.length > 1) this.count('sorted by', 'nested')
    this.path(target, rest.join('.'))
  }

  private counted(resource: string, counts: readonly string[]): void {
    for (const name of counts) {
      const { kind, trait } = MODEL[resource]!.relations[name]!
      this.count('counted', kind)
      if (trait) this.count('counted', trait)
    }
  }

  include(resource: string, include: readonly Include[]): void {
    for (const { relation, limit, sort, filter, fields, counts, include: inner } of include) {
      const { kind, trait, target } = MODEL[resource]!.relations[relation]!
      this.count('relation', kind)
      if (trait) this.count('relation', trait)
      const options = {
        limit: limit !== undefined,
        sort: sort.length > 0,
        filter: filter !== undefined,
        fields: fields !== undefined,
        nested: inner.length > 0,
      }
      for (const [name, given] of Object.entries(options)) if (given) this.count('include', name)
      if (filter) this.filter(target, filter)
      if (counts.length > 0) this.count('counted', 'included')
      this.counted(target, counts)
      this.include(target, inner)
    }
  }

  groups(resource: string, { aggregates, groupBy, having, filter }: GroupQuery): void {
    this.filter(resource, filter)
    for (const { function: name } of aggregates) this.count('function', name)
    for (const field of groupBy) this.count('grouped by', MODEL[resource]!.fields[field]!)
    if (having.length > 0) this.count('function', 'having')
  }

  /** Where a cursor stands: on a NULL, between rows that only the primary key tells apart. */
  cursor(order: readonly string[], key: readonly string[], last: Row, next: Row): void {
    this.count('cursor', 'page')
    if (order.some(field => last[field] === null)) this.count('cursor', 'NULL')
    const sorted = order.filter(field => !key.includes(field))
    if (sorted.length > 0 && sorted.every(field => String(last[field]) === String(next[field]))) this.count('cursor', 'tie')
  }

  get share(): number {
    return this.filled / this.answers
  }

  missing(): string[] {
    return Object.entries(REQUIRED).flatMap(([kind, names]) => names.map(name => `${kind}: ${name}`)).filter(key => !this.counts.has(key))
  }

  report(): string {
    const lines = Object.entries(REQUIRED).map(
      ([kind, names]) => `  ${kind}: ${names.map(name => `${name} ${this.counts.get(`${kind}: ${name}`) ?? 0}`).join(' · ')}`,
    )
    return [`${this.answers} answers compared, ${Math.round(this.share * 100)} % of them with rows`, ...lines].join('\n')
  }
}
