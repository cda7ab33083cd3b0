/** The requests of the tag picker and of the capabilities page, and the rows of the junction table afterwards. */
import { expect, it } from 'vitest'
import { ADMIN, EDITOR, PUBLIC, WRITER } from './callers'
import type { Newsroom } from './server'

export function describeTags(newsroom: () => Newsroom): void {
  const post = () =>
    newsroom().rows<{ id: number }>(
      `select id from posts where ${PUBLIC} and author_id != ${WRITER} and created_by != ${WRITER} order by id limit 1`,
    )[0]!.id
  const tags = (organization: number) =>
    newsroom()
      .rows<{ id: number }>('select id from tags where organization_id = ? order by id', organization)
      .map(({ id }) => id)
  const linksOf = (id: number) =>
    newsroom()
      .rows<{ tag_id: number }>('select tag_id from posts_tags where post_id = ? order by tag_id', id)
      .map(({ tag_id }) => tag_id)
  const others = (id: number) => newsroom().rows('select * from posts_tags where post_id != ? order by post_id, tag_id', id)
  const send = (method: string, ids: number[], as?: number) =>
    newsroom().request(`/api/posts/${post()}/relations/tags`, { method, as, body: { ids } })

  it('are replaced, added and removed, for this post only', async () => {
    const id = post()
    const [before, [a, b, c]] = [others(id), tags(1)]
    await send('PUT', [], EDITOR)
    expect(linksOf(id)).toEqual([])
    expect(await send('PUT', [a!, b!], EDITOR)).toMatchObject({ status: 200, body: { added: 2, removed: 0, total: 2 } })
    expect(linksOf(id)).toEqual([a, b])
    expect(await send('POST', [b!, c!], EDITOR)).toMatchObject({ status: 200, body: { added: 1, removed: 0, total: 3 } })
    expect(linksOf(id)).toEqual([a, b, c])
    expect(await send('DELETE', [a!], EDITOR)).toMatchObject({ status: 200, body: { added: 0, removed: 1, total: 2 } })
    expect(linksOf(id)).toEqual([b, c])
    const { body } = await newsroom().request(`/api/posts/${id}/relations/tags?fields=id,name&sort=name&limit=100`)
    expect(body.data).toEqual(newsroom().rows('select id, name from tags where id in (?, ?) order by name', b, c))
    expect(others(id)).toEqual(before)
  })

  it.each([
    ['an anonymous caller', undefined, 401],
    ['a writer, of another\'s post', WRITER, 404],
  ])('cannot be changed by a caller without permission: %s', async (_, as, expected) => {
    const before = linksOf(post())
    for (const method of ['PUT', 'POST', 'DELETE']) expect((await send(method, tags(1).slice(0, 3), as)).status).toBe(expected)
    expect(linksOf(post())).toEqual(before)
  })

  it('cannot be tags of another organisation', async () => {
    const before = linksOf(post())
    const [own, foreign] = [tags(1).at(-1)!, tags(2)[0]!]
    for (const method of ['PUT', 'POST', 'DELETE']) {
      const { status, body } = await send(method, [own, foreign], EDITOR)
      expect({ status, code: body.data.code }).toEqual({ status: 404, code: 'NOT_FOUND' })
    }
    expect(linksOf(post())).toEqual(before)
  })

  it.each([
    [undefined, false],
    [WRITER, false],
    [EDITOR, true],
  ])('can be changed according to the permissions route: by %s, %s', async (as, allowed) => {
    const { body } = await newsroom().request(`/api/posts/permissions?ids=${post()}`, { as })
    expect(body.records[post()]).toMatchObject({ canRead: true, canUpdate: allowed })
  })
}

/** `read create update delete aggregate restore purge viewDeleted` of each resource, by the newsroom's rules. */
const GRID: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  nobody: {
    tags: 'r...a...',
    organizations: 'r...a...',
    users: '........',
    posts: 'r...a...',
    comments: 'r...a...',
    media: 'r...a...',
    auditLog: '........',
    apiTokens: '........',
    webhooks: '........',
    webhookDeliveries: '........',
    authorStats: '........',
  },
  writer: {
    tags: 'r...a...',
    organizations: 'r...a...',
    users: 'r...a...',
    posts: 'rcu.a...',
    comments: 'rcuda...',
    media: 'rcu.a...',
    auditLog: '........',
    apiTokens: 'rcudaRPV',
    webhooks: 'rcuda...',
    webhookDeliveries: 'r.u.a...',
    authorStats: 'r...a...',
  },
  editor: {
    tags: 'rcuda...',
    organizations: 'r...a...',
    users: 'r...a...',
    posts: 'rcudaR.V',
    comments: 'rcudaR.V',
    media: 'rcuda...',
    auditLog: 'r...a...',
    apiTokens: 'rcudaRPV',
    webhooks: 'rcuda...',
    webhookDeliveries: 'r.u.a...',
    authorStats: 'r...a...',
  },
  admin: {
    tags: 'rcuda...',
    organizations: 'r.u.a...',
    users: 'rcuda...',
    posts: 'rcudaRPV',
    comments: 'rcudaRPV',
    media: 'rcuda...',
    auditLog: 'r...a...',
    apiTokens: 'rcudaRPV',
    webhooks: 'rcuda...',
    webhookDeliveries: 'r.u.a...',
    authorStats: 'r...a...',
  },
}

const LETTERS = {
  canRead: 'r',
  canCreate: 'c',
  canUpdate: 'u',
  canDelete: 'd',
  canAggregate: 'a',
  canRestore: 'R',
  canPurge: 'P',
  canViewDeleted: 'V',
}

/** @param without resources of the playground that the app does not register */
export function describeCapabilities(newsroom: () => Newsroom, without: readonly string[] = []): void {
  it.each([
    ['nobody', undefined],
    ['writer', WRITER],
    ['editor', EDITOR],
    ['admin', ADMIN],
  ])('match the authorization of the playground: %s', async (role, as) => {
    const { status, body } = await newsroom().request('/api/permissions', { as })
    expect(status).toBe(200)
    const grid = Object.entries<Record<string, unknown>>(body.permissions).map(([resource, can]) => [
      resource,
      Object.entries(LETTERS)
        .map(([name, letter]) => (can[name] ? letter : '.'))
        .join(''),
    ])
    expect(Object.fromEntries(grid)).toEqual(
      Object.fromEntries(Object.entries(GRID[role]!).filter(([resource]) => !without.includes(resource))),
    )
  })

  it('include fields', async () => {
    const fieldsOf = async (as?: number) => (await newsroom().request('/api/permissions', { as })).body.permissions.users.fields
    expect(await fieldsOf(EDITOR)).toEqual({ email: { canRead: true, canWrite: true }, salary: { canRead: false, canWrite: false } })
    expect(await fieldsOf(ADMIN)).toEqual({ email: { canRead: true, canWrite: true }, salary: { canRead: true, canWrite: true } })
  })
}
