/** The query in the query builder. It is part of the page's URL, so that it can be shared and reloaded. */
import type { ResourceView } from '../resources'
import { isOperator, type Operator } from './operators'

export const FUNCTIONS = ['count', 'sum', 'avg', 'min', 'max'] as const

/** Maximum levels of includes. */
export const MAX_DEPTH = 3

export interface Condition { field: string, operator: Operator, value: string }

export interface Sort { field: string, descending: boolean }

export interface Aggregate { function: typeof FUNCTIONS[number], field: string }

/** Relation → its options. */
export interface Includes { [relation: string]: Include }

/** `limit`: rows per parent; 0 means no limit in the query. */
export interface Include { limit: number, include: Includes }

export interface Draft {
  resource: string
  /** Empty: all fields that the caller can read. */
  fields: string[]
  conditions: Condition[]
  match: 'all' | 'any'
  sort: Sort[]
  include: Includes
  /** The relations to count. */
  counts: string[]
  trash: 'without' | 'with' | 'only'
  paging: 'page' | 'cursor'
  page: number
  cursor: string
  limit: number
  /** Whether numbered pages have a total. */
  counted: boolean
  aggregates: Aggregate[]
  groupBy: string[]
}

export function newDraft(changes: Partial<Draft> = {}): Draft {
  return {
    resource: 'posts', fields: [], conditions: [], match: 'all', sort: [], include: {}, counts: [], trash: 'without',
    paging: 'page', page: 1, cursor: '', limit: 10, counted: true, aggregates: [], groupBy: [], ...changes,
  }
}

/** A draft as text for the URL: only the values that differ from a new draft. */
export function writeDraft(draft: Draft): string {
  const plain = newDraft()
  return JSON.stringify(
    Object.fromEntries(Object.entries(draft).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(plain[key as keyof Draft]))),
  )
}

/** Finds a resource by its name. */
type Find = (name: unknown) => Pick<ResourceView, 'name' | 'fields' | 'relations'> | undefined

/** Reads a draft from a URL. Ignores parts that are invalid, or that the caller cannot use, because anybody can write a URL. */
export function readDraft(text: unknown, find: Find): Draft {
  const given = toObject(text)
  const plain = newDraft()
  const { name, fields, relations } = find(given.resource) ?? find(plain.resource) ?? { name: plain.resource, fields: {}, relations: {} }
  const isField = (value: unknown): value is string => typeof value === 'string' && Object.hasOwn(fields, value)
  const isCountable = (value: unknown): value is string =>
    typeof value === 'string' && Object.hasOwn(relations, value) && relations[value]!.countable
  return newDraft({
    resource: name,
    fields: toList(given.fields).filter(isField),
    conditions: toList(given.conditions)
      .map(toObject)
      .filter(({ field, operator }) => isField(field) && isOperator(operator) && fields[field]!.operators.includes(operator))
      .map(({ field, operator, value }) => ({ field: field as string, operator: operator as Operator, value: String(value ?? '') })),
    match: oneOf(given.match, ['all', 'any']),
    sort: toList(given.sort)
      .map(toObject)
      .flatMap(({ field, descending }) => (typeof field === 'string' ? [{ field, descending: descending === true }] : [])),
    include: readIncludes(given.include, relations, find),
    counts: toList(given.counts).filter(isCountable),
    trash: oneOf(given.trash, ['without', 'with', 'only']),
    paging: oneOf(given.paging, ['page', 'cursor']),
    page: toCount(given.page, 1),
    cursor: typeof given.cursor === 'string' ? given.cursor : '',
    limit: toCount(given.limit, 10),
    counted: given.counted !== false,
    aggregates: toList(given.aggregates)
      .map(toObject)
      .map(({ function: name, field }) => ({ function: oneOf(name, FUNCTIONS), field: isField(field) ? field : '' })),
    groupBy: toList(given.groupBy).filter(isField),
  })
}

/** Whether a draft contains every part of the draft in a URL. The order of the properties does not matter. */
export function containsAll(draft: Draft, text: unknown): boolean {
  return toSortedText(toObject(writeDraft(draft))) === toSortedText(toObject(text))
}

function toSortedText(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    part && typeof part === 'object' && !Array.isArray(part) ? Object.fromEntries(Object.entries(part).toSorted()) : part)
}

function readIncludes(value: unknown, relations: ResourceView['relations'], find: Find, depth = 1): Includes {
  const canInclude = (name: string) => Object.hasOwn(relations, name) && relations[name]!.includable
  const known = Object.entries(toObject(value)).filter(([name]) => canInclude(name) && depth <= MAX_DEPTH)
  return Object.fromEntries(known.map(([name, node]) => {
    const { limit, include } = toObject(node)
    const next = find(relations[name]!.target)?.relations ?? {}
    return [name, { limit: toCount(limit, 0), include: readIncludes(include, next, find, depth + 1) }]
  }))
}

function toObject(value: unknown): Record<string, unknown> {
  try {
    const parsed: unknown = typeof value === 'string' ? JSON.parse(value) : value
    return parsed && typeof parsed === 'object' && !Array.isArray(parsed) ? parsed as Record<string, unknown> : {}
  }
  catch {
    return {}
  }
}

function toList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

function toCount(value: unknown, fallback: number): number {
  return Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : fallback
}

function oneOf<const T extends readonly [string, ...string[]]>(value: unknown, choices: T): T[number] {
  return choices.find(choice => choice === value) ?? choices[0]
}
