/** Finds route rules that would cache what the API answers: every response depends on its caller. */
import type { Problem } from './problem'

/** Rules as Nitro holds them, by pattern. */
export type RouteRules = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>

/** The rules that keep a response. What the app writes comes before `cache`, which Nitro derives from it. */
const CACHING = ['swr', 'isr', 'static', 'prerender', 'cache'] as const

type Caching = typeof CACHING[number]

interface Rule {
  readonly pattern: string
  readonly segments: readonly string[]
  readonly values: Readonly<Record<string, unknown>>
}

/**
 * @param paths patterns that the module answers, such as `/api/posts/:id`
 * @param prefix under which all of them are
 * @returns one problem for each rule that caches one of them
 */
export function findCachedPaths(rules: RouteRules, paths: readonly string[], prefix: string): Problem[] {
  // The more specific a rule, the later it stands: it decides what it sets.
  const all = Object.entries(rules).flatMap(([pattern, values]) => values ? toRule(pattern, values) : []).sort(bySpecificity)
  return all.filter(isCaching).flatMap((rule) => {
    for (const path of paths) {
      const witness = findCommonPath(rule.segments, toSegments(path))
      const key = witness && findEffectiveKey(rule, witness, all)
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
    what: `would keep the responses of \`${path}\` and hand them to other callers`,
    instead: isBroader ? `Turn it off for the API: \`${off}\`.` : 'Remove it.',
    anchor: 'cached-routes',
  }
}

/** What is cached at a path because of this rule: a rule that is more specific may have turned it off. */
function findEffectiveKey(rule: Rule, path: readonly string[], rules: readonly Rule[]): Caching | undefined {
  const matching = rules.filter(({ segments }) => matches(segments, path))
  const decides = (key: Caching) => matching.findLast(({ values }) => values[key] !== undefined && values[key] !== null) === rule
  return CACHING.find(key => rule.values[key] && decides(key))
}

const isCaching = ({ values }: Rule) => CACHING.some(key => values[key])

function toRule(pattern: string, values: Readonly<Record<string, unknown>>): Rule {
  // Nitro 3 knows rules for one method.
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

/** Whether a rule holds for a path. */
function matches(rule: readonly string[], path: readonly string[]): boolean {
  const rest = rule.findIndex(isRest)
  const fixed = rest === -1 ? rule : rule.slice(0, rest)
  const isLongEnough = rest === -1 ? path.length === fixed.length : path.length >= fixed.length
  return isLongEnough && fixed.every((segment, index) => fits(segment, path[index]!))
}

/** Stands for any value of a parameter: no rule spells it out. */
const ANY = '\u0000'

/** A path that both patterns match, as general as there is one; `undefined` where there is none. */
function findCommonPath(rule: readonly string[], path: readonly string[]): readonly string[] | undefined {
  const rest = rule.findIndex(isRest)
  const fixed = rest === -1 ? rule : rule.slice(0, rest)
  if (rest === -1 ? path.length !== fixed.length : path.length < fixed.length) return undefined
  const witness = path.map((segment, index) => {
    const own = fixed[index]
    if (!isParameter(segment)) return own === undefined || fits(own, segment) ? segment : undefined
    if (own === undefined || isParameter(own)) return ANY
    return isMixed(own) ? own.replace(/\*|:\w+/g, ANY) : own
  })
  return witness.includes(undefined) ? undefined : witness as string[]
}

const KINDS: readonly ((segment: string) => boolean)[] = [isRest, isParameter, isMixed, () => true]
const rankOf = (segment: string | undefined) => segment === undefined ? -1 : KINDS.findIndex(isKind => isKind(segment))

/** As both versions of Nitro order them. The first segment that differs in kind decides: a plain one over a parameter over `**`. */
function bySpecificity({ segments: one }: Pick<Rule, 'segments'>, { segments: other }: Pick<Rule, 'segments'>): number {
  for (let index = 0; index < Math.max(one.length, other.length); index++) {
    const difference = rankOf(one[index]) - rankOf(other[index])
    if (difference !== 0) return difference
  }
  return 0
}
