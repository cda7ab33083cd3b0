/** `expectNoninterference`: responses must not depend on what a caller cannot see. */
import type { TestResponse } from '../api/client'
import type { TestApi, TestRoute } from '../api/create'
import { findServer } from '../api/local'
import { createKnown, findDifference } from './compare'
import { createRandom } from './random'
import { firstDifferent, reduce, type Found } from './reduce'
import { createRequests } from './requests'
import { describeSent, isEndless, send, type Exchange, type SentRequest } from './sent'
import { createPool } from './values'
import { openChanged, openSeeds, type Place, type Worlds } from './worlds'

export interface NoninterferenceOptions<Name extends string = string> {
  /** The caller, or several callers, one after another. */
  readonly as: Name | readonly Name[]
  /**
   * Two functions that fill the database. The caller must see the same in both.
   * @default the rows as they are, and the same after random changes of rows and columns that the caller cannot see. They are undone
   */
  readonly worlds?: readonly [first: () => unknown, second: () => unknown]
  /**
   * The number of random requests of each caller.
   * @default 500
   */
  readonly runs?: number
  /**
   * Repeats a run. A failure names its seed.
   * @default a random number
   */
  readonly seed?: number
  /**
   * Milliseconds after which no further requests are sent for a caller.
   * @default 20_000
   */
  readonly budget?: number
  /**
   * Returns `true` for requests that are not sent, such as those of an endpoint that counts every row on purpose.
   * @default () => false
   */
  readonly ignore?: (request: NoninterferenceRequest) => boolean
}

/** A random request. */
export type NoninterferenceRequest = Pick<SentRequest, 'method' | 'path' | 'query' | 'body'>

export interface NoninterferenceReport {
  /** The requests that were compared. */
  readonly requests: number
  /** The changes of the database that the callers cannot see. 0 with `worlds`. */
  readonly changes: number
  readonly seed: number
}

/** Each round has its own changes. */
const ROUND = 125

/**
 * Sends the same random requests of a caller with two databases that are equal for this caller: reads with filters, orders, includes,
 * counts, cursors and entity tags, routes of plugins, endpoints that read, and writes as dry runs. Status, headers and body must be equal.
 * The documented limits of hiding rows are exceptions.
 * @throws When responses differ, when the caller does not see the same in both worlds, or when there is nothing that the caller cannot see.
 * @example
 * await expectNoninterference(api, { as: ['anonymous', 'reader'] })
 */
export async function expectNoninterference<Name extends string>(
  api: TestApi<Name>, { as, runs = 500, seed = Math.floor(Math.random() * 2 ** 31), ...options }: NoninterferenceOptions<NoInfer<Name>>,
): Promise<NoninterferenceReport> {
  const server = findServer(api)
  if (!server)
    throw new Error('[auto-api] expectNoninterference() needs an API in this process: `createTestApi({ resources, database, … })`.')
  let [requests, changes] = [0, 0]
  for (const caller of [as].flat() as Name[]) {
    const done = await compareWorlds({ api, server, caller }, { runs, seed, ...options })
    requests += done.requests
    changes += done.changes
  }
  return { requests, changes, seed }
}

type Settings = Omit<NoninterferenceOptions, 'as'> & Required<Pick<NoninterferenceOptions, 'runs' | 'seed'>>

async function compareWorlds(place: Place, { worlds: seeds, runs, seed, budget = 20_000, ignore = () => false }: Settings) {
  const random = createRandom(seed)
  const end = Date.now() + budget
  const endless = new Set<TestRoute>()
  let [requests, changes] = [0, 0]
  for (let round = 0; requests < runs && (round === 0 || Date.now() < end); round++) {
    const worlds = seeds ? await openSeeds(place, seeds) : await openChanged(place, random)
    changes += worlds.changes.length
    const pool = createPool(worlds.sights, random, place.server.config.filters.extended)
    const { next } = createRequests(pool, place.api.routes, route => endless.has(route))
    try {
      const script = await sendScript(place, next, { count: Math.min(ROUND, runs - requests), end, ignore, endless })
      requests += script.length
      const found = await replay(place, worlds, script)
      if (found.length > 0) throw new Error(toMessage(place.caller, seed, found))
    }
    finally {
      await worlds.enter(0)
    }
  }
  if (!seeds && changes === 0) {
    throw new Error(
      `[auto-api] The kit found nothing that it can change without ${place.caller} seeing it, so the test proves nothing. `
      + 'Choose a caller who sees less, add rows, or pass `worlds`.',
    )
  }
  return { requests, changes }
}

interface ScriptOptions extends Required<Pick<NoninterferenceOptions, 'ignore'>> {
  readonly count: number
  readonly end: number
  readonly endless: Set<TestRoute>
}

/** Sends random requests in the first world. Later requests depend on earlier responses. */
async function sendScript(
  { api, caller }: Place, next: (last: Exchange | undefined) => SentRequest, { count, end, ignore, endless }: ScriptOptions,
): Promise<Exchange[]> {
  const client = api.as(caller)
  const script: Exchange[] = []
  // A caller who has nothing but ignored requests must not run for ever.
  for (let tries = 0; script.length < count && tries < 20 * count && Date.now() < end; tries++) {
    const sent = next(script.at(-1))
    if (ignore(sent)) continue
    const response = await send(client, sent)
    if (response.status === 429) throw new Error('[auto-api] The API limits the rate of requests. Test it without the plugin `rateLimit`.')
    if (!isEndless(response)) script.push({ sent, response })
    else for (const route of api.routes) if (route.method === sent.method && matches(route.path, sent.path)) endless.add(route)
  }
  return script
}

const matches = (route: string, path: string) => new RegExp(`^${route.replace(/:\w+/g, '[^/]+')}$`).test(path)

/** More would hide the first ones, and each one takes time to reduce. */
const MAX_FOUND = 3

async function replay({ api, caller }: Place, worlds: Worlds, script: readonly Exchange[]): Promise<Found[]> {
  const client = api.as(caller)
  const known = createKnown(worlds.sights)
  await worlds.enter(1)
  const different: SentRequest[] = []
  for (const { sent, response } of script)
    if (findDifference(known, sent, response, await send(client, sent))) different.push(sent)
  await worlds.enter(0)
  const found: Found[] = []
  for (const sent of different) {
    if (found.length === MAX_FOUND) break
    // A response that differs in the same world too, such as one with the time, says nothing.
    const [first, again] = [await send(client, sent), await send(client, sent)]
    if (findDifference(known, sent, first, again, [0, 0])) continue
    const confirmed = await firstDifferent({ client, worlds, known }, [sent])
    if (confirmed) found.push(await reduce({ client, worlds, known }, confirmed))
  }
  return found
}

function toMessage(caller: string, seed: number, found: readonly Found[]): string {
  const lines = found.map(({ sent, difference, first, second, cause }) => [
    `- ${describeSent(caller, sent)}: ${difference}${cause === undefined ? '' : ` after \`${cause}\``}`,
    ...toLines(first, second).map(line => `    ${line}`),
  ].join('\n'))
  return [
    `[auto-api] ${found.length === 1 ? 'A response depends' : `${found.length} responses depend`} on what ${caller} cannot see. `
    + `\`seed: ${seed}\` repeats the test.`,
    ...new Set(lines),
  ].join('\n')
}

const EXCERPT = 200

/** The parts of both responses around the first difference. */
function toLines(first: TestResponse, second: TestResponse): string[] {
  const texts = [first, second].map(({ status, headers, text }) =>
    `${status} ${[...headers].map(header => header.join(': ')).join(', ')} ${text}`)
  let start = 0
  while (start < texts[0]!.length && texts[0]![start] === texts[1]![start]) start++
  return texts.map(({ length }, index) => {
    const from = Math.max(0, start - 60)
    const text = texts[index]!.slice(from, from + EXCERPT)
    return `${from > 0 ? '… ' : ''}${text}${from + EXCERPT < length ? ' …' : ''}`
  })
}
