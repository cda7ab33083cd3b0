/** Two offices that are equal for a caller, and the requests that the caller and others send to them. */
import { vi } from 'vitest'
import { invalidateResponses } from '../../../../src/runtime/server/plugin/invalidation'
import { passesHidden } from '../../../../src/runtime/testing/noninterference/cascades'
import { createKnown, findDifference } from '../../../../src/runtime/testing/noninterference/compare'
import type { Random } from '../../../../src/runtime/testing/noninterference/random'
import { createRequests } from '../../../../src/runtime/testing/noninterference/requests'
import { describeSent, isEndless, send, type Exchange, type SentRequest } from '../../../../src/runtime/testing/noninterference/sent'
import { lookAs, type Sight } from '../../../../src/runtime/testing/noninterference/sight'
import { createPool } from '../../../../src/runtime/testing/noninterference/values'
import { differenceOf, openChanged } from '../../../../src/runtime/testing/noninterference/worlds'
import { findServer } from '../../../../src/runtime/testing/api/local'
import type { TestResponse } from '../../../../src/runtime/testing'
import type { openOffice } from './office'

export type Office = Awaited<ReturnType<typeof openOffice>>
export type Name = Office['api']['callers'][number]
type Pair<T> = readonly [T, T]

export interface Episode {
  /** Sends the next request. @returns what differs, or `undefined` */
  readonly step: () => Promise<string | undefined>
  /** Whether the worlds can differ from now on, because of a documented exception. */
  readonly ended: () => boolean
}

export interface Counts { reads: number, writes: number, ofOthers: number, seen: number, ended: number }

/** Between two requests. */
const SECOND = 1_000

/** @param counts are increased */
export async function openEpisode(offices: Pair<Office>, caller: Name, random: Random, counts: Counts): Promise<Episode> {
  let now = Date.parse('2026-01-01T00:00:00Z')
  vi.setSystemTime(now)
  const places = offices.map(({ api }) => ({ api, server: findServer(api)!, caller })) as unknown as Pair<Parameters<typeof openChanged>[0]>
  for (const { reset } of offices) reset()
  // The servers do not know the new rows.
  for (const { server } of places) await invalidateResponses(server.services, [...server.resources.keys()])
  await (await openChanged(places[1], random)).enter(1)

  const look = async (world: 0 | 1, name = caller) => withoutLog(await lookAs(places[world].api, places[world].server, name))
  let sights: Pair<Sight> = [await look(0), await look(1)]
  let last: Exchange | undefined
  let firstId = 1_000
  let ended = false

  const requestsOf = (pair: Pair<Sight>) =>
    createRequests(createPool(pair, random, false), offices[0].api.routes.filter(({ resource }) => resource !== 'auditLog'), () => false)
  /** A write, if one of the first tries is one. Some keep their dry run. */
  function nextOf(pair: Pair<Sight>, tries: number): SentRequest {
    const { next } = requestsOf(pair)
    let sent = next(last)
    for (let count = 1; count < tries && sent.method === 'GET'; count++) sent = next(undefined)
    return random.chance(0.85) ? withoutDryRun(sent) : sent
  }
  const sendTo = async (world: 0 | 1, name: Name, sent: SentRequest) => {
    let count = 0
    // Ids that the server makes are the same in both worlds.
    vi.spyOn(crypto, 'randomUUID').mockImplementation(() => uuid(now, count++))
    return await send(offices[world].api.as(name), sent)
  }
  /** @returns what the caller sees in only one world */
  const lookAgain = async (worlds: readonly (0 | 1)[] = [0, 1]) => {
    sights = [worlds.includes(0) ? await look(0) : sights[0], await look(1)]
    return differenceOf(...sights)
  }

  /** Another caller writes in the second world. If the caller can see it, the other caller writes in the first world too. */
  async function writeOfOther(): Promise<void> {
    const other = random.pick(offices[0].api.callers.filter(name => name !== caller && name !== 'token'))
    const sight = await look(1, other)
    const sent = nextOf([sight, sight], 10)
    if (sent.method === 'GET' || isLeftOut(sent) || (await sendTo(1, other, sent)).status >= 400) return
    counts.ofOthers++
    if ((await lookAgain([1])).length === 0) return
    counts.seen++
    await sendTo(0, other, sent)
    ended = (await lookAgain()).length > 0
  }

  return {
    ended: () => ended,
    async step() {
      vi.setSystemTime(now += SECOND)
      // New records get the same ids, however many hidden rows there are.
      firstId += 100
      for (const { client } of offices) client.exec(`update sqlite_sequence set seq = ${firstId}`)
      if (random.chance(0.3)) {
        await writeOfOther()
        return undefined
      }
      const sent = nextOf(sights, random.chance(0.5) ? 10 : 1)
      if (isLeftOut(sent) || sights.some(sight => sent.method !== 'GET' && passesHidden(sight, sent))) return undefined
      const known = createKnown(sights)
      const responses = [await sendTo(0, caller, sent), await sendTo(1, caller, sent)] as const
      if (responses.some(isEndless)) return undefined
      const [first, second] = responses.map(plain) as unknown as Pair<TestResponse>
      counts[sent.method === 'GET' ? 'reads' : 'writes']++
      last = { sent, response: responses[0] }
      const difference = findDifference(known, sent, first, second)
      if (difference) return [`${describeSent(caller, sent)}: ${difference}`, first, second].map(toText).join('\n')
      if (sent.method === 'GET' || responses.every(({ status }) => status >= 400)) return undefined
      const visible = await lookAgain()
      ended = first.text !== second.text
      return visible.length > 0 && !ended ? `${describeSent(caller, sent)}: then ${visible.join(', ')} differ` : undefined
    },
  }
}

const toText = (part: string | TestResponse) =>
  typeof part === 'string' ? part : `  ${part.status} ${JSON.stringify(Object.fromEntries(part.headers))} ${part.text}`

/** The ids of entries sort by the time and a number of the process, so they differ. */
const withoutLog = ({ resources, facts, db }: Sight): Sight => ({
  db,
  resources: new Map([...resources].filter(([name]) => name !== 'auditLog')),
  facts: new Map([...facts].filter(([name]) => !/\bauditLog\b/.test(name))),
})

function withoutDryRun({ query: { dryRun: _, ...query } = {}, ...sent }: SentRequest): SentRequest {
  return { ...sent, query }
}

/** New tokens are random. */
const isLeftOut = ({ method, path, body }: SentRequest) =>
  (method !== 'GET' && /apiTokens/.test(path + JSON.stringify(body ?? ''))) || /auditLog/.test(path)

const uuid = (now: number, count: number): ReturnType<typeof crypto.randomUUID> =>
  `00000000-0000-4000-8000-${(now + count).toString(16).padStart(12, '0')}`

const ENTRY_ID = /[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12}/g

/** Without the ids of entries, and without `Cache-Status`, which tells that somebody wrote the table. */
function plain(response: TestResponse): TestResponse {
  const headers = new Headers(response.headers)
  headers.delete('cache-status')
  const ids = [...new Set(response.text.match(ENTRY_ID))]
  if (ids.length === 0) return { ...response, headers }
  headers.delete('etag')
  const text = response.text.replace(ENTRY_ID, id => `<entry ${ids.indexOf(id)}>`)
  return { ...response, headers, text, body: typeof response.body === 'object' ? JSON.parse(text) : text }
}
