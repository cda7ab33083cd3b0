/** Responses in a map: what a handwritten handler can do at best with bytes that it already has. */
import type { H3Event } from 'h3'

interface Stored {
  readonly text: string
  /** Those that the API sets itself. */
  readonly headers: readonly (readonly [name: string, value: string])[]
}

const responses = new Map<string, Stored>()

/** Returns the text of the API's response to the same request. */
export function storedText(event: H3Event): string | Promise<string> {
  const found = findStored(event)
  return found instanceof Promise ? found.then(({ text }) => text) : found.text
}

/** Sends the text with the same headers as the API, or a 304. */
export function storedResponse(event: H3Event): string | null | Promise<string | null> {
  const found = findStored(event)
  return found instanceof Promise ? found.then(stored => respond(event, stored)) : respond(event, found)
}

function respond({ node: { req, res } }: H3Event, { text, headers }: Stored): string | null {
  for (const [name, value] of headers) res.setHeader(name, value)
  if (req.headers['if-none-match'] !== res.getHeader('etag')) return text
  res.removeHeader('content-type')
  res.statusCode = 304
  return null
}

const SENT = ['content-type', 'etag', 'cache-control', 'vary', 'cache-status']

function findStored(event: H3Event): Stored | Promise<Stored> {
  const { url, headers } = event.node.req
  const caller = headers['x-caller'] as string
  const key = `${caller} ${url}`
  return (
    responses.get(key)
    ?? useNitroApp()
      .localFetch(url!.replace(/^\/stored\/\w+/, '/api'), { headers: { 'x-caller': caller } })
      .then(async (response) => {
        const headers = SENT.flatMap((name) => {
          const value = response.headers.get(name)
          return value === null ? [] : [[name, value] as const]
        })
        const stored = { text: await response.text(), headers }
        responses.set(key, stored)
        return stored
      })
  )
}
