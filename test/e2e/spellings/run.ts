/**
 * Sends spellings of paths to a server, byte for byte, and compares each response with that of the plain spelling. No spelling may show an
 * anonymous caller what the plain path refuses, change what the plain path does not, or pass a check of the app that judges the path.
 */
import { afterAll, expect, it } from 'vitest'
import { findProblem, findTouch, marksOf, NO_EFFECTS, type Outcome } from './judge'
import { sendRaw } from './raw'
import { createRandom, KINDS, spellEach, spellTwice, type Place, type Spelling } from './spell'

export interface Target {
  readonly path: string
  /** @default 'GET' */
  readonly method?: string
  /** Follows each spelling of the path. */
  readonly query?: string
  /** @param n the number of the request, for values that each request writes anew */
  readonly body?: (n: number) => unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface App {
  readonly url: string
  /** Returns the changes of the database since the last call as text, or {@link NO_EFFECTS}. */
  readonly effects: () => Promise<string>
}

export interface Described {
  readonly app: () => App
  readonly targets: readonly Target[]
  /** A path that anonymous callers can use. */
  readonly open: string
  /** The headers of a caller who can use every target. */
  readonly editor: Readonly<Record<string, string>>
  /** What a check of the app closes, as the path of an event can be, and the resource that the API serves there, if it is no page. */
  readonly gate?: { readonly paths: readonly string[], readonly resource?: string }
  /** Spellings of each path. */
  readonly count: number
}

const FOREIGN = { 'origin': 'https://evil.example', 'sec-fetch-site': 'cross-site' }

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'get'])
const WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** Requests at the same time. */
const LANES = 4

let sent = 0

export const SEED = Number(process.env.SEED ?? 20_261_128)

/** Every kind in turn, so that the paths together have each kind often; then spellings of spellings. */
function spellingsOf(place: Place, index: number, count: number): Spelling[] {
  const random = createRandom(SEED + index)
  const rounds = Math.ceil(count / KINDS.length)
  const each = Array.from({ length: rounds }, () => spellEach(place, random)).flat()
  const single = count >= KINDS.length ? each.slice(0, KINDS.length) : rotate(each, index * count).slice(0, Math.ceil(count * 0.8))
  const twice = Array.from({ length: count - single.length }, () => spellTwice(place, random))
  return [...single, ...twice]
}

const rotate = <T>(list: readonly T[], by: number): T[] => [...list.slice(by % list.length), ...list.slice(0, by % list.length)]

/** The path that a URL with this target has, if it has one. */
function resolve(target: string): string | undefined {
  try {
    const { pathname } = new URL(target, 'http://host')
    return pathname.replace(/%[2-7][\da-f]/gi, code => /[\w.~-]/.test(decodeURIComponent(code)) ? decodeURIComponent(code) : code)
  }
  catch {
    return undefined
  }
}

export function describeSpellings({ app, targets, open, editor, gate, count }: Described): void {
  const counted = { spellings: 0, kinds: new Set<string>() }
  const began = sent

  afterAll(() => console.info(
    `spellings: ${counted.spellings} of ${targets.length} paths, of ${counted.kinds.size} kinds, in ${sent - began} requests; seed ${SEED}`))

  async function send(target: Target, spelling: Omit<Spelling, 'kind'>, caller: Readonly<Record<string, string>>): Promise<Outcome> {
    const method = spelling.method ?? target.method ?? 'GET'
    const body = WITH_BODY.has(method) && target.body ? JSON.stringify(target.body(++sent)) : (sent++, '')
    const answer = await sendRaw(app().url, {
      method,
      target: spelling.target + (target.query ?? ''),
      headers: { accept: '*/*', ...body !== '' && { 'content-type': 'application/json' }, ...target.headers, ...caller, ...spelling.headers },
      body,
    })
    return { target: spelling.target, answer, effects: SAFE.has(method) ? NO_EFFECTS : await app().effects() }
  }

  async function check(target: Target, index: number): Promise<string[]> {
    const problems: string[] = []
    const { host, origin } = new URL(app().url)
    const plainOf = new Map<string, Promise<Outcome>>()
    const plain = (path: string, method: string, caller: Readonly<Record<string, string>>, of = target) => {
      const key = JSON.stringify([path, method, caller, of.query])
      if (!plainOf.has(key)) plainOf.set(key, send(of, { target: path, method }, caller))
      return plainOf.get(key)!
    }
    const own = target.method ?? 'GET'
    // The first call fills the tables, and the first write of a caller also sets whose it is.
    await app().effects()
    await send(target, { target: target.path }, editor)
    await app().effects()
    const marks = marksOf((await plain(target.path, own, editor)).answer)
    const isRefused = (await plain(target.path, own, {})).answer.status >= 400
    const isGated = gate?.paths.some(path => target.path === path || target.path.startsWith(`${path}/`))
    const gated = { ...editor, 'x-gate': gate?.paths.join(' ') ?? '' }
    if (isGated) expect((await plain(target.path, own, gated)).answer.status).toBe(403)

    async function judge(spelling: Spelling): Promise<void> {
      const method = spelling.method ?? own
      // Such a spelling replaces the query.
      const asked = /[?#]/.test(spelling.target) ? { ...target, query: '' } : target
      const isWrite = !SAFE.has(method)
      const report = (caller: string, problem: string | undefined) => {
        if (problem !== undefined)
          problems.push(`${caller}: ${method} ${JSON.stringify(spelling.target)} (${spelling.kind}): ${problem}`)
      }
      const path = resolve(spelling.target)
      const known = async (caller: Readonly<Record<string, string>>) => ({
        plain: await plain(target.path, method, caller, asked),
        ...path !== undefined && path !== target.path && !isWrite && { resolved: await plain(path, method, caller, asked) },
        origin, isWrite,
      })
      report('the editor', findProblem(await send(asked, spelling, editor), { ...await known(editor), marks: [] }))
      report('an anonymous caller', findProblem(await send(asked, spelling, {}), { ...await known({}), marks: isRefused ? marks : [] }))
      if (isWrite) report('another site', findTouch(await send(asked, spelling, { ...editor, ...FOREIGN }), [], origin))
      if (gate) {
        const outcome = await send(asked, spelling, gated)
        const served = outcome.answer.headers.get('x-served')
        const touch = isGated && (gate.resource === undefined || isWrite) ? findTouch(outcome, marks, origin) : undefined
        report('behind the gate', served !== undefined && served === gate.resource ? `${outcome.answer.status}, of ${served}` : touch)
      }
    }

    const spellings = spellingsOf({ path: target.path, open, host }, index, count)
    for (const { kind } of spellings) kind.split(', ').forEach(part => counted.kinds.add(part))
    counted.spellings += spellings.length
    // Effects are those of one request.
    const isSafe = SAFE.has(own) && spellings.every(({ method = own }) => SAFE.has(method))
    const waiting = [...spellings]
    const run = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) await judge(next)
    }
    await Promise.all(Array.from({ length: isSafe ? LANES : 1 }, run))
    if (await app().effects() !== NO_EFFECTS) problems.push('a request that should only read has changed rows')
    if (problems.length > 0) console.error(problems.join('\n'))
    return problems
  }

  it.each(targets.map((target, index) => ({ method: 'GET', ...target, index })))(
    '$method $path',
    { timeout: 240_000 },
    async ({ index, ...target }) => expect(await check(target, index)).toEqual([]),
  )
}
