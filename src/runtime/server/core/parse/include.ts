/** Parses `include`, as text or JSON, into a tree of relation names with their options. */
import type { AutoApiConfig } from '../../../shared/config'
import { isObject } from '../../../shared/is-object'
import { LIMITS } from '../../../shared/limits'
import { invalidQuery, limitExceeded, quote } from '../error'
import { toFilter, type Filter } from './filter'
import { distinct, toJson, toSort, toWholeNumber, type Query, type SortField } from './params'

export interface IncludeQuery {
  readonly fields?: readonly string[]
  readonly limit?: number
  readonly sort?: readonly SortField[]
  readonly filter?: Filter
  /** The relations whose records are counted for each included record. */
  readonly counts?: readonly string[]
  readonly include: ReadonlyMap<string, IncludeQuery>
}

export type IncludeTree = ReadonlyMap<string, IncludeQuery>

interface Node {
  fields?: readonly string[]
  limit?: number
  sort?: readonly SortField[]
  filter?: Filter
  counts?: readonly string[]
  include: Map<string, Node>
}

const NOTHING: IncludeTree = new Map()

export function parseInclude(query: Query, config: AutoApiConfig): IncludeTree {
  const value = query.include
  if (value === undefined) return NOTHING
  const root = new Map<string, Node>()
  for (const text of [value].flat()) {
    if (text.trimStart().startsWith('{')) addJson(root, toJson(text, 'include'), config)
    else addText(root, text, config)
  }
  return root
}

function addJson(into: Map<string, Node>, value: unknown, config: AutoApiConfig): void {
  if (!isObject(value)) throw invalidQuery('`include` is not an object of relations.', 'include')
  for (const [name, options] of Object.entries(value)) {
    if (options === false) continue
    const node = nodeOf(into, name)
    if (options === true) continue
    if (!isObject(options)) throw invalidQuery(`\`include\`: the options of ${quote(name)} are true or an object.`, 'include')
    for (const [key, option] of Object.entries(options)) setOption(node, key, option, config)
  }
}

type Setter = (node: Node, value: unknown, config: AutoApiConfig) => void

const OPTIONS: Readonly<Record<string, Setter>> = {
  fields: (node, value) => {
    node.fields = toTexts(value, 'fields')
  },
  limit: (node, value) => {
    node.limit = toWholeNumber(typeof value === 'number' ? String(value) : typeof value === 'string' ? value : '', 'include.limit')
  },
  sort: (node, value) => {
    node.sort = [...node.sort ?? [], ...toSort(toTexts(value, 'sort'), 'include.sort')]
  },
  filter: (node, value, config) => {
    node.filter = toFilter(value, 'include.filter', config)
  },
  counts: (node, value) => {
    node.counts = distinct([...node.counts ?? [], ...toTexts(value, 'counts')])
  },
  include: (node, value, config) => addJson(node.include, value, config),
}

function setOption(node: Node, key: string, value: unknown, config: AutoApiConfig): void {
  const set = Object.hasOwn(OPTIONS, key) ? OPTIONS[key] : undefined
  if (!set) throw invalidQuery(`\`include\` has no option ${quote(key)}; use one of: ${Object.keys(OPTIONS).join(', ')}.`, 'include')
  set(node, value, config)
}

function toTexts(value: unknown, option: string): string[] {
  const list = typeof value === 'string' ? value.split(',') : value
  if (!Array.isArray(list) || list.some(item => typeof item !== 'string'))
    throw invalidQuery(`\`include\`: \`${option}\` is a list of names.`, 'include')
  return (list as string[]).map(item => item.trim()).filter(item => item !== '')
}

function nodeOf(into: Map<string, Node>, name: string): Node {
  let node = into.get(name)
  if (!node) into.set(name, node = { include: new Map() })
  return node
}

/** Parses `author[id,name],comments{limit:5}.author`. */
function addText(root: Map<string, Node>, text: string, config: AutoApiConfig): void {
  for (const path of entriesOf(text)) {
    let at = root
    const segments = split(path, '.')
    // The tree is visited recursively before the plan checks `relations.maxDepth`. A long path would overflow the stack.
    if (segments.length > LIMITS.includeDepth)
      throw limitExceeded(`\`include\` goes deeper than ${LIMITS.includeDepth} relations.`, 'include')
    for (const segment of segments) {
      if (segment.trim() === '') throw invalidQuery(`\`include\`: ${quote(path)} has an empty segment.`, 'include')
      const match = /^([^[\]{}]+)(?:\[([^\]]*)\])?(?:\{(.*)\})?$/s.exec(segment.trim())
      if (!match) throw invalidQuery(`\`include\`: ${quote(segment)} is not a relation.`, 'include')
      const [, name, fields, options] = match
      const node = nodeOf(at, name!.trim())
      if (fields !== undefined) setOption(node, 'fields', fields, config)
      if (options !== undefined) addOptions(node, options, config)
      at = node.include
    }
  }
}

/** Parses `limit:5,sort:-createdAt,counts:tags,filter:{"a":1}`. `sort` and `counts` can occur several times. */
function addOptions(node: Node, text: string, config: AutoApiConfig): void {
  for (const option of entriesOf(text)) {
    const colon = option.indexOf(':')
    const key = option.slice(0, colon).trim()
    const value = option.slice(colon + 1).trim()
    if (colon === -1 || key === 'include') throw invalidQuery(`\`include\`: ${quote(option)} is not an option.`, 'include')
    setOption(node, key, key === 'filter' ? toJson(value, 'include.filter') : value, config)
  }
}

/** Returns the entries of a comma-separated list. Ignores empty entries. */
const entriesOf = (text: string) => split(text, ',').filter(entry => entry.trim() !== '')

/** Splits at separators outside brackets, braces and JSON strings. */
function split(text: string, separator: string): string[] {
  const parts: string[] = []
  let depth = 0
  let quoted = false
  let start = 0
  for (let index = 0; index < text.length; index++) {
    const character = text[index]!
    if (quoted) {
      if (character === '\\') index++
      else if (character === '"') quoted = false
    }
    else if (character === '"' && depth > 0) quoted = true
    else if (character === '[' || character === '{') depth++
    else if (character === ']' || character === '}') depth--
    else if (character === separator && depth === 0) {
      parts.push(text.slice(start, index))
      start = index + 1
    }
    if (depth < 0) break
  }
  if (depth !== 0 || quoted) throw invalidQuery('`include`: a bracket has no counterpart.', 'include')
  return [...parts, text.slice(start)]
}
