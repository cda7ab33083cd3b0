/** Sends random sequences of writes and compares the rows with those of a plain model. */
import fc from 'fast-check'
import { expect } from 'vitest'
import type { TestServer } from '../../support/server.ts'
import { Model, type Caller } from './model.ts'

export const CALLERS: readonly Caller[] = [
  { name: 'writer of 1', tenant: 1, writes: true },
  { name: 'writer of 2', tenant: 2, writes: true },
  { name: 'reader of 1', tenant: 1, writes: false },
  { name: 'anonymous', tenant: null, writes: false },
]

type Command = { readonly kind: string, readonly who: number, readonly a: number, readonly b: number, readonly list: readonly number[] }

const KINDS = [
  'create post',
  'create post',
  'create comment',
  'create comment',
  'reply',
  'rename',
  'bulk create',
  'bulk rename',
  'delete post',
  'delete post',
  'delete comment',
  'bulk delete',
  'restore post',
  'restore post',
  'restore comment',
  'restore group',
  'purge post',
  'purge group',
  'link',
  'unlink',
  'replace',
] as const

export const commands: fc.Arbitrary<Command[]> = fc.array(fc.record({
  kind: fc.constantFrom(...KINDS),
  // Most commands come from callers with permission.
  who: fc.constantFrom(0, 0, 0, 0, 1, 1, 2, 3),
  a: fc.integer({ min: 0, max: 5 }),
  b: fc.integer({ min: 0, max: 7 }),
  list: fc.uniqueArray(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 3 }),
}), { minLength: 4, maxLength: 22 })

/** The first commands: posts of both tenants, comments and replies, a comment in the trash, and tags. */
export const FIRST_COMMANDS: readonly Command[] = [
  ...[0, 0, 1].map((who, index): Command => ({ kind: 'create post', who, a: 0, b: 100 + index, list: [0] })),
  ...[[0, 0], [0, 0], [0, 1], [1, 2]].map(([who, a]): Command => ({ kind: 'create comment', who: who!, a: a!, b: 0, list: [0] })),
  ...[0, 0, 1].map((a): Command => ({ kind: 'reply', who: 0, a, b: 0, list: [0] })),
  { kind: 'delete comment', who: 0, a: 1, b: 0, list: [0] },
  { kind: 'link', who: 0, a: 0, b: 0, list: [0, 1] },
]

export class World {
  readonly model = new Model()
  readonly outcomes = new Map<string, number>()

  constructor(
    readonly server: TestServer,
    readonly all: (sql: string) => unknown[][] | Promise<unknown[][]>,
  ) {}

  private send(method: string, path: string, caller: Caller, body?: unknown) {
    const user = caller.tenant === null ? null : { id: 1, organizationId: caller.tenant }
    return this.server.request(method, `/api/${path}`, { body, caller: { user, permissions: caller.writes ? ['write'] : [] } })
  }

  /** The n-th row, so that commands name rows that exist. */
  private nth(table: 'posts' | 'comments', n: number): number {
    const ids = [...this.model.rows(table).keys()]
    return ids.length === 0 ? 999 : ids[n % ids.length]!
  }

  private async check(
    caller: Caller,
    status: number,
    method: string,
    path: string,
    body: unknown,
    apply: (body: Record<string, never>) => void,
  ): Promise<void> {
    const expected = this.model.refusal(caller) ?? status
    const answer = await this.send(method, path, caller, body)
    expect([method, path, JSON.stringify(body), caller.name, answer.status]).toEqual([
      method,
      path,
      JSON.stringify(body),
      caller.name,
      expected,
    ])
    const key = `${expected}`
    this.outcomes.set(key, (this.outcomes.get(key) ?? 0) + 1)
    if (expected < 300) apply(answer.body as Record<string, never>)
  }

  async run({ kind, who, a, b, list }: Command): Promise<void> {
    const { model } = this
    const caller = CALLERS[who]!
    const post = this.nth('posts', a)
    const comment = this.nth('comments', a)
    const ids = [...new Set(list.map(n => this.nth('posts', n)))]
    const addPost = ({ id, title }: { id: number, title: string }) =>
      model.posts.set(id, { id, title, tenant: caller.tenant!, group: null, tags: new Set() })
    const addComment = ({ id, postId, parentId, body }: { id: number, postId: number | null, parentId: number | null, body: string }) =>
      model.comments.set(id, { id, postId, parentId, body, tenant: caller.tenant!, group: null })
    const group = model.posts.get(post)?.group ?? 'no such group'
    switch (kind) {
      case 'create post':
        return this.check(
          caller,
          model.titleTaken(`t${b}`) ? 409 : 201,
          'POST',
          'posts',
          { title: `t${b}`, organizationId: 2, deletionId: 'mine' },
          addPost as never,
        )
      case 'create comment':
        return this.check(
          caller,
          model.find('posts', post, caller) ? 201 : 400,
          'POST',
          'comments',
          { body: 'c', postId: post },
          addComment as never,
        )
      case 'reply':
        return this.check(
          caller,
          model.find('comments', comment, caller) ? 201 : 400,
          'POST',
          'comments',
          { body: 'r', parentId: comment },
          addComment as never,
        )
      case 'rename':
        return this.check(
          caller,
          !model.find('posts', post, caller) ? 404 : model.titleTaken(`t${b}`, post) ? 409 : 200,
          'PATCH',
          `posts/${post}`,
          { title: `t${b}` },
          () => {
            model.posts.get(post)!.title = `t${b}`
          },
        )
      case 'bulk create': {
        const titles = list.map(n => `t${n}`)
        return this.check(
          caller,
          titles.some(title => model.titleTaken(title)) ? 409 : 200,
          'POST',
          'posts/bulk',
          { items: titles.map(title => ({ title })) },
          ((body: { data: { id: number, title: string }[] }) => body.data.forEach(addPost)) as never,
        )
      }
      case 'bulk rename': {
        const missing = ids.some(id => !model.find('posts', id, caller))
        return this.check(
          caller,
          missing ? 404 : 200,
          'PATCH',
          'posts/bulk',
          { items: ids.map(id => ({ id, data: { title: `own ${id} ${b}` } })) },
          () => {
            for (const id of ids) model.posts.get(id)!.title = `own ${id} ${b}`
          },
        )
      }
      case 'delete post':
        return this.check(caller, model.find('posts', post, caller) ? 200 : 404, 'DELETE', `posts/${post}`, undefined, ((body: {
          deletionId: string
        }) => model.trash('posts', post, body.deletionId)) as never)
      case 'delete comment':
        return this.check(caller, model.find('comments', comment, caller) ? 200 : 404, 'DELETE', `comments/${comment}`, undefined, ((body: {
          deletionId: string
        }) => model.trash('comments', comment, body.deletionId)) as never)
      case 'bulk delete':
        return this.check(caller, ids.every(id => model.find('posts', id, caller)) ? 200 : 404, 'DELETE', 'posts/bulk', { ids }, ((body: {
          data: { id: number, deletionId: string }[]
        }) => body.data.forEach(({ id, deletionId }) => model.trash('posts', id, deletionId))) as never)
      case 'restore post':
        return this.check(
          caller,
          model.find('posts', post, caller, 'trashed') ? 200 : 404,
          'POST',
          `posts/${post}/restore`,
          undefined,
          () => model.restore('posts', post),
        )
      case 'restore comment':
        return this.check(
          caller,
          model.find('comments', comment, caller, 'trashed') ? 200 : 404,
          'POST',
          `comments/${comment}/restore`,
          undefined,
          () => model.restore('comments', comment),
        )
      case 'restore group': {
        const rows = model.group(group)
        return this.check(
          caller,
          rows.length > 0 && rows.every(([table, id]) => model.find(table, id, caller, 'trashed')) ? 200 : 404,
          'POST',
          'posts/bulk/restore',
          { deletionId: group },
          () => {
            for (const [table, id] of rows) model.rows(table).get(id)!.group = null
          },
        )
      }
      case 'purge post':
        return this.check(
          caller,
          model.find('posts', post, caller, 'any') ? 200 : 404,
          'DELETE',
          `posts/${post}?force=true`,
          undefined,
          () => model.purge('posts', post),
        )
      case 'purge group': {
        const rows = model.group(group)
        return this.check(
          caller,
          rows.length > 0 && rows.every(([table, id]) => model.find(table, id, caller, 'trashed')) ? 200 : 404,
          'DELETE',
          'posts/bulk?force=true',
          { deletionId: group },
          () => {
            for (const [table, id] of rows) if (model.rows(table).has(id)) model.purge(table, id)
          },
        )
      }
      default: {
        const wanted = list.map(n => 1 + (n % 5))
        const method = { link: 'POST', unlink: 'DELETE', replace: 'PUT' }[kind as 'link']
        return this.check(
          caller,
          model.find('posts', post, caller) ? 200 : 404,
          method,
          `posts/${post}/relations/tags`,
          { ids: wanted },
          () => {
            const { tags } = model.posts.get(post)!
            if (kind === 'replace') tags.clear()
            for (const id of wanted)
              if (kind === 'unlink') tags.delete(id)
              else tags.add(id)
          },
        )
      }
    }
  }

  /** Compares the rows in the database, and the rows that each caller sees, with the model. */
  async compare(): Promise<void> {
    const { model } = this
    const read = async (sql: string) => (await this.all(sql)).map(row => row.map(value => (value === null ? null : String(value))))
    const text = (rows: readonly (readonly unknown[])[]) => rows.map(row => row.map(value => (value === null ? null : String(value))))
    const whole = 'case when (deleted_at is null) = (deletion_id is null) then 1 else 0 end'
    expect(await read(`select id, organization_id, title, deletion_id, ${whole} from posts order by id`)).toEqual(
      text([...model.posts.values()].sort((a, b) => a.id - b.id).map(({ id, tenant, title, group }) => [id, tenant, title, group, 1])),
    )
    expect(await read(`select id, organization_id, post_id, parent_id, deletion_id, ${whole} from comments order by id`)).toEqual(
      text(
        [...model.comments.values()]
          .sort((a, b) => a.id - b.id)
          .map(({ id, tenant, postId, parentId, group }) => [id, tenant, postId, parentId, group, 1]),
      ),
    )
    expect(await read('select post_id, tag_id from post_tags order by 1, 2')).toEqual(
      text(
        [...model.posts.values()].flatMap(({ id, tags }) => [...tags].map(tag => [id, tag])).sort(([a, b], [c, d]) => a! - c! || b! - d!),
      ),
    )
    for (const caller of CALLERS) {
      if (caller.tenant === null) continue
      const { body } = await this.send('GET', 'posts?include=comments,tags&limit=100', caller)
      const seen = [...model.posts.values()]
        .filter(post => post.tenant === caller.tenant && post.group === null)
        .sort((a, b) => a.id - b.id)
      expect(
        body.data.map((post: { id: number, comments: { id: number }[], tags: { id: number }[] }) => [
          post.id,
          post.comments.map(({ id }) => id),
          post.tags.map(({ id }) => id),
        ]),
      ).toEqual(
        seen.map(({ id, tags }) => [
          id,
          [...model.comments.values()]
            .filter(row => row.postId === id && row.tenant === caller.tenant && row.group === null)
            .map(row => row.id),
          [...tags].sort(),
        ]),
      )
    }
  }
}

/** After any sequence of commands, the rows equal those of the model. */
export const property = (fresh: () => World | Promise<World>, outcomes = new Map<string, number>()) =>
  fc.asyncProperty(commands, async (sequence) => {
    const world = await fresh()
    for (const command of [...FIRST_COMMANDS, ...sequence]) {
      await world.run(command)
      await world.compare()
    }
    for (const [status, count] of world.outcomes) outcomes.set(status, (outcomes.get(status) ?? 0) + count)
  })
