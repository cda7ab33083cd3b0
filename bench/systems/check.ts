/** Checks the body of each measured request once, before it is measured. */
import { deepStrictEqual } from 'node:assert'
import type { Data } from './data.ts'
import { expect, type SystemOperation } from './operations.ts'
import type { Started } from './process.ts'
import type { System, SystemRequest } from './system.ts'

const FIELDS = ['title', 'slug', 'excerpt', 'state', 'featured', 'views', 'releasedAt'] as const

/**
 * Returns the requests of an operation, or `undefined` if the system has no such operation.
 * @throws When a response has other rows, another total or other authors.
 */
export async function check(
  system: System, { title, queries }: SystemOperation, server: Started, member: Readonly<Record<string, string>>, data: Data,
): Promise<readonly SystemRequest[] | undefined> {
  const requests: SystemRequest[] = []
  for (const query of queries(data)) {
    const request = system.toRequest(query)
    if (!request) return undefined
    // Reads are anonymous.
    const sent = { ...request, headers: { ...request.headers, ...request.method === 'POST' && member } }
    const response = await fetch(server.url + sent.path, sent)
    const text = await response.text()
    const where = `${system.key}, ${title}: ${sent.path} returns ${response.status}`
    if (!response.ok) throw new Error(`${where}: ${text.slice(0, 1000)}`)
    const body: unknown = JSON.parse(text)
    const rows = system.rows(body)
    const { posts, total, authors } = expect(query, data)
    const pick = (row: Readonly<Record<string, unknown>>) => Object.fromEntries(FIELDS.map(name => [name, row[name]]))
    deepStrictEqual(rows.map(pick), posts.map(post => pick({ ...post })), `${where} with other posts: ${text.slice(0, 1000)}`)
    // Strapi sends the author only where it is included.
    const known = rows.filter(({ author }) => author !== undefined)
    if (known.length > 0) deepStrictEqual(rows.map(({ author }) => author), posts.map(({ author }) => author), `${where} with other authors`)
    if (authors) deepStrictEqual(rows.map(({ authorName }) => authorName), authors, `${where} with other names of authors`)
    if (total !== undefined) deepStrictEqual(system.total(body), total, `${where} with another total`)
    requests.push(sent)
  }
  return requests
}

/** @throws When anonymous callers can create, or read a draft. */
export async function checkRule(system: System, server: Started, data: Data): Promise<void> {
  const draft = data.posts.find(({ state }) => state === 'draft')!.id
  for (const query of [{ kind: 'create' } as const, { kind: 'get', id: draft } as const]) {
    const request = system.toRequest(query)!
    const response = await fetch(server.url + request.path, request)
    await response.arrayBuffer()
    if (response.ok) throw new Error(`${system.key} does not refuse ${query.kind} by an anonymous caller: ${response.status}`)
  }
}
