/** Asks a test server for lists: one answer, or all pages by cursor. */
import type { Answered, Caller, TestServer } from '../../support/server'

type Query = Readonly<Record<string, unknown>>

/** Objects are written as JSON. */
export function get({ request }: TestServer, path: string, query: Query = {}, caller: Caller = {}): Promise<Answered> {
  const params = Object.entries(query).map(([name, value]) => [name, typeof value === 'object' ? JSON.stringify(value) : String(value)])
  return request('GET', `/api/${path}?${new URLSearchParams(params)}`, { caller })
}

/** The ids that the pages of a list hold one after another. @throws When there are more pages than there can be. */
export async function walk(server: TestServer, path: string, query: Query): Promise<unknown[]> {
  const seen: unknown[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const { body }: Answered = await get(server, path, { ...query, cursor })
    seen.push(...body.data.map(({ id }: { id: unknown }) => id))
    if (seen.length > 100) throw new Error('The pages have no end.')
    cursor = body.meta.nextCursor
  }
  return seen
}
