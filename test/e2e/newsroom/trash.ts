/** The bulk requests of the list and of the trash page, and the rows afterwards. */
import { expect, it } from 'vitest'
import { ADMIN, EDITOR, WRITER } from './callers'
import type { Newsroom } from './server'

export function describeTrash(newsroom: () => Newsroom): void {
  const ids = () =>
    newsroom()
      .rows<{ id: number }>(
        `select p.id from posts p where p.organization_id = 1 and p.status = 'published' and p.deleted_at is null and exists (select 1 from comments c where c.post_id = p.id and c.deleted_at is null) order by p.id desc limit 3`,
      )
      .map(({ id }) => id)
  const states = (chosen: number[]) =>
    newsroom().rows<{ status: string, trashed: number, deletion_id: string | null }>(
      `select status, deleted_at is not null trashed, deletion_id from posts where id in (${chosen.join()}) order by id desc`,
    )
  const commentsOf = (id: number) =>
    newsroom().rows<{ id: number, deletion_id: string | null }>('select id, deletion_id from comments where post_id = ? order by id', id)

  it('change the status of all chosen posts, or of none', async () => {
    const chosen = ids()
    const body = { items: chosen.map(id => ({ id, data: { status: 'archived' } })) }
    const foreign = newsroom().rows<{ id: number }>('select id from posts where organization_id = 2 and deleted_at is null limit 1')[0]!
    const refused = await newsroom().request('/api/posts/bulk', {
      method: 'PATCH',
      as: EDITOR,
      body: { items: [...body.items, { id: foreign.id, data: { status: 'archived' } }] },
    })
    expect({ status: refused.status, code: refused.body.data.code }).toEqual({ status: 404, code: 'BULK_FAILED' })
    expect(states(chosen).map(({ status }) => status)).toEqual(['published', 'published', 'published'])

    expect((await newsroom().request('/api/posts/bulk', { method: 'PATCH', as: EDITOR, body })).status).toBe(200)
    expect(states(chosen).map(({ status }) => status)).toEqual(['archived', 'archived', 'archived'])
  })

  it('delete all chosen posts with their comments, a group each, and restore exactly one group', async () => {
    const chosen = ids()
    const before = chosen.map(commentsOf)
    expect((await newsroom().request('/api/posts/bulk', { method: 'DELETE', as: EDITOR, body: { ids: chosen } })).status).toBe(200)
    const groups = states(chosen).map(({ deletion_id }) => deletion_id)
    expect(new Set(groups).size).toBe(3)
    chosen.forEach((id, index) => {
      const deletionId = groups[index]
      expect(commentsOf(id)).toEqual(before[index]!.map(comment => ({ ...comment, deletion_id: comment.deletion_id ?? deletionId })))
    })

    expect(
      (await newsroom().request('/api/posts/bulk/restore', { method: 'POST', as: EDITOR, body: { deletionId: groups[0] } })).status,
    ).toBe(200)
    expect(states(chosen).map(({ trashed }) => trashed)).toEqual([0, 1, 1])
    expect(commentsOf(chosen[0]!)).toEqual(before[0])
  })

  it('count what a delete would move to the trash, and change nothing, in a dry run', async () => {
    const [id] = ids() as [number]
    const before = [states([id]), commentsOf(id)]
    const { status, headers, body } = await newsroom().request(`/api/posts/${id}`, {
      method: 'DELETE',
      as: EDITOR,
      headers: { prefer: 'tx=rollback' },
    })
    const comments = newsroom().rows('select id from comments where post_id = ? and deleted_at is null', id).length
    expect([status, headers.get('preference-applied'), body]).toEqual([
      200,
      'tx=rollback',
      { affected: { posts: 1, comments }, confirm: body.confirm },
    ])
    expect((await newsroom().request(`/api/posts/${id}?dryRun=maybe`, { method: 'DELETE', as: EDITOR })).status).toBe(400)
    expect([states([id]), commentsOf(id)]).toEqual(before)
  })

  it('purge for administrators only', async () => {
    const { id, deletion_id: deletionId } = newsroom().rows<{ id: number, deletion_id: string }>(
      'select id, deletion_id from posts where organization_id = 1 and deleted_at is not null order by deleted_at desc limit 1',
    )[0]!
    const purge = (as?: number) => newsroom().request('/api/posts/bulk?force=true', { method: 'DELETE', as, body: { deletionId } })
    for (const [as, expected] of [[undefined, 401], [WRITER, 403], [EDITOR, 403]] as const) {
      expect((await purge(as)).status).toBe(expected)
      expect(newsroom().rows('select id from posts where id = ?', id)).toHaveLength(1)
    }
    expect((await purge(ADMIN)).status).toBe(200)
    expect(
      newsroom().rows('select id from posts where id = ? union all select id from comments where deletion_id = ?', id, deletionId),
    ).toEqual([])
  })
}
