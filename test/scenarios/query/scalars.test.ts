/** Where the grammar wants one value, every other value is a 400 that names the place: an object, a list, a boolean instead of text. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { asText, PLACES, type Place } from './places'
import { openPlaces, type PlacesApi } from './places-app'

/** Values that no client means. Objects come as text, because `__proto__` of a literal is no property. */
const ODD: readonly string[] = [
  '{}',
  '{"toString":1}',
  '{"valueOf":null}',
  '{"__proto__":{"id":1}}',
  '{"constructor":1}',
  '{"hasOwnProperty":1}',
  '{"toJSON":1}',
  '{"$where":1}',
  '[]',
  '[[1]]',
  '[{"toString":1}]',
  '[null]',
  '[true]',
  '[1,2]',
  '["a","b"]',
  'true',
  'false',
  'null',
  '0',
  '-1',
  '1.5',
  '1e308',
  '9007199254740993',
  '""',
  '"NaN"',
  '"Infinity"',
  '"0x10"',
  '"1e999"',
  '" 1"',
  '"true"',
  '"null"',
  '"__proto__"',
  '"a\\u0000"',
  '"constructor"',
]

let api: PlacesApi

beforeAll(async () => {
  api = await openPlaces()
})

afterAll(() => api.close())

/** The status and the text of a response. A refusal of a tool is a result of the protocol. */
async function outcome({ send, says }: Place, value: unknown) {
  const sent = send(value)
  // A header has no other characters.
  if (sent.headers && Object.values(sent.headers).some(text => /[^\x20-\x7E]|^\s|\s$/.test(text) || text === '')) return undefined
  const { status, body, text } = await api.send(sent)
  const error = body?.result?.isError ? JSON.parse(body.result.content[0].text).error : undefined
  return { status: error?.status ?? status, isNamed: typeof says === 'string' ? text.includes(says) : says.test(text), text }
}

describe('a place that wants one value', () => {
  it(`takes no other: ${PLACES.length} places, ${ODD.length} odd values`, async () => {
    const failures: string[] = []
    let refused = 0
    for (const place of PLACES) {
      for (const odd of ODD) {
        const value: unknown = JSON.parse(odd)
        const response = await outcome(place, value)
        if (!response) continue
        const { status, isNamed, text } = response
        const isRefused = (status === (place.status ?? 400) || (place.orUnknown && status === 404)) && isNamed
        const isAccepted = place.fits(value) && status < 500
        if (isRefused) refused++
        if (!isAccepted && !isRefused) failures.push(`${place.name} with ${asText(odd)}: ${status} ${text.slice(0, 200)}`)
      }
    }
    console.info(`${PLACES.length} places × ${ODD.length} odd values: ${refused} refusals that name the place`)
    expect(failures).toEqual([])
  }, 300_000)
})
