/** Finds route rules that would cache responses of the API. Such a rule is unsafe, because the responses depend on the caller. */
import type { Problem } from './problem'

/** Nitro's route rules, by pattern. */
export type RouteRules = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>

/** The keys of a rule that cache a response. `cache` is last, because Nitro derives its value from the other keys. */
const CACHING = ['swr', 'isr', 'static', 'prerender', 'cache'] as const

type Caching = typeof CACHING[number]

interface Rule {
  readonly pattern: string
  readonly segments: readonly string[]
  readonly values: Readonly<Record<string, unknown>>
}

/**
 * @param paths patterns of the API's routes, such as `/api/posts/:id`
 * @param prefix the prefix of all paths
 * @returns one problem for each rule that caches at least one of the paths
 */
export function findCachedPaths(rules: RouteRules, paths: readonly string[], prefix: string): Problem[] {
  // The most specific rule is last, because a rule overrides the rules before it.
  const sorted = Object.entries(rules).flatMap(([pattern, values]) => values ? toRule(pattern, values) : []).sort(bySpecificity)
  return sorted.filter(isCaching).flatMap((rule) => {
    for (const path of paths) {
      const common = findCommonPath(rule.segments, toSegments(path))
      const key = common && findEffectiveKey(rule, common, sorted)
      if (key) return toProblem(rule, key, path, prefix)
    }
    return []
  })
}

function toProblem({ pattern, values, segments }: Rule, key: Caching, path: string, prefix: string): Problem {
  const written = CACHING.find(name => values[name])!
  const off = `'${prefix}/**': { ${[...new Set(['cache', written, key])].map(name => `${name}: false`).join(', ')} }`
  const isBroader = bySpecificity({ segments }, { segments: toSegments(`${prefix}/**`) }) < 0
  return {
    where: `routeRules['${pattern}'].${written}`,
    what: `would cache the responses of \`${path}\` and return them to other callers`,
    instead: isBroader ? `Turn it off for the API: \`${off}\`.` : 'Remove it.',
    anchor: 'cached-routes',
  }
}

/** Returns the key with which a rule caches a path, or `undefined` if a more specific rule overrides the key. */
function findEffectiveKey(rule: Rule, path: readonly string[], rules: readonly Rule[]): Caching | undefined {
  const matching = rules.filter(({ segments }) => matches(segments, path))
  const decides = (key: Caching) => matching.findLast(({ values }) => values[key] !== undefined && values[key] !== null) === rule
  return CACHING.find(key => rule.values[key] && decides(key))
}

const isCaching = ({ values }: Rule) => CACHING.some(key => values[key])

function toRule(pattern: string, values: Readonly<Record<string, unknown>>): Rule {
  // In Nitro 3, a pattern can start with a method: `GET /api/**`.
  return { pattern, segments: toSegments(pattern.replace(/^[A-Z]+ +(?=\/)/i, '')), values }
}

const toSegments = (pattern: string) => pattern.split('/').filter(segment => segment !== '')

const REST = /^(?:\*\*|:\w+\*)/
const isRest = (segment: string | undefined) => segment !== undefined && REST.test(segment)
const isParameter = (segment: string) => segment === '*' || /^:\w+(?:\(.*\))?[?+]?$/.test(segment)
const isMixed = (segment: string) => !isParameter(segment) && /[*:]/.test(segment)

function toPattern(segment: string): RegExp {
  return new RegExp(`^${segment.split(/\*|:\w+/).map(text => text.replace(/\W/g, '\\$&')).join('[^/]*')}$`)
}

function fits(segment: string, text: string): boolean {
  return isParameter(segment) || (isMixed(segment) ? toPattern(segment).test(text) : segment === text)
}

/** Whether a rule applies to a path. */
function matches(rule: readonly string[], path: readonly string[]): boolean {
  const rest = rule.findIndex(isRest)
  const fixed = rest === -1 ? rule : rule.slice(0, rest)
  const isLongEnough = rest === -1 ? path.length === fixed.length : path.length >= fixed.length
  return isLongEnough && fixed.every((segment, index) => fits(segment, path[index]!))
}

/** A character for "any value" of a parameter. No rule contains this character. */
const ANY = '\u0000'

/** Returns the most general path that both patterns match, or `undefined` if no path matches both. */
function findCommonPath(rule: readonly string[], path: readonly string[]): readonly string[] | undefined {
  const rest = rule.findIndex(isRest)
  const fixed = rest === -1 ? rule : rule.slice(0, rest)
  if (rest === -1 ? path.length !== fixed.length : path.length < fixed.length) return undefined
  const common = path.map((segment, index) => {
    const ruleSegment = fixed[index]
    if (!isParameter(segment)) return ruleSegment === undefined || fits(ruleSegment, segment) ? segment : undefined
    if (ruleSegment === undefined || isParameter(ruleSegment)) return ANY
    return isMixed(ruleSegment) ? ruleSegment.replace(/\*|:\w+/g, ANY) : ruleSegment
  })
  return common.includes(undefined) ? undefined : common as string[]
}

const KINDS: readonly ((segment: string) => boolean)[] = [isRest, isParameter, isMixed, () => true]
const rankOf = (segment: string | undefined) => segment === undefined ? -1 : KINDS.findIndex(isKind => isKind(segment))

/**
 * Compares two rules in the order of Nitro. The first position whose segments differ in kind decides. Text is more specific than a
 * parameter, and a parameter is more specific than `**`.
 */
function bySpecificity({ segments: one }: Pick<Rule, 'segments'>, { segments: other }: Pick<Rule, 'segments'>): number {
  for (let index = 0; index < Math.max(one.length, other.length); index++) {
    const difference = rankOf(one[index]) - rankOf(other[index])
    if (difference !== 0) return difference
  }
  return 0
}
