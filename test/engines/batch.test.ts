/** On every engine: a batch refuses exactly what its steps refuse as requests of their own, and writes the same rows. */
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { batch } from '../../src/runtime/plugins'
import { openBlog, type Blog } from './support/blog'
import { ENGINE_CASES, isAvailable } from './support/databases'
import { dump, reset } from './support/scene'

const WRITER = { user: { id: 1, organizationId: 1 }, permissions: ['write'] }

interface Step {
  readonly resource: 'posts' | 'comments'
  readonly operation: 'create' | 'update' | 'delete' | 'restore'
  readonly id?: unknown
  readonly data?: Readonly<Record<string, unknown>>
  readonly as?: string
}

const reference = (step: number) => ({ $ref: `s${step}.id` })

/**
 * Posts 1 to 3 and 9 exist, 9 belongs to another tenant, 4 and 5 are in the trash. Comments: 11, 12, 21, 111, and in the trash 41, 42, 411.
 */
const steps: fc.Arbitrary<readonly Step[]> = fc.array(fc.record({
  kind: fc.constantFrom('create post', 'create post', 'create comment', 'comment on new', 'comment on new', 'rename post', 'rename new',
    'move comment', 'delete post', 'delete comment', 'restore post', 'restore comment', 'reply to new', 'change comment'),
  post: fc.constantFrom(1, 2, 3, 9, 4, 5, 77),
  comment: fc.constantFrom(11, 12, 21, 111, 41, 42, 411, 99),
  title: fc.constantFrom('a', 'b', 'c', 'd', 'one', 'theirs'),
  earlier: fc.nat(),
}), { minLength: 1, maxLength: 7 }).map(commands => commands.map(({ kind, post, comment, title, earlier }, index): Step => {
  const as = `s${index}`
  const ofKind = (name: string) => commands.flatMap((command, at) => at < index && command.kind === name ? [at] : [])
  const pick = (list: readonly number[]) => list.length === 0 ? undefined : reference(list[earlier % list.length]!)
  const newPost = pick(ofKind('create post')) ?? post
  switch (kind) {
    case 'create post': return { resource: 'posts', operation: 'create', data: { title: `${title} ${earlier % 2}` }, as }
    case 'create comment': return { resource: 'comments', operation: 'create', data: { body: title, postId: post }, as }
    case 'comment on new': return { resource: 'comments', operation: 'create', data: { body: title, postId: newPost }, as }
    case 'reply to new':
      return { resource: 'comments', operation: 'create', data: { body: title, parentId: pick(ofKind('comment on new')) ?? comment }, as }
    case 'rename post': return { resource: 'posts', operation: 'update', id: post, data: { title }, as }
    case 'rename new': return { resource: 'posts', operation: 'update', id: newPost, data: { title: `new ${title}` }, as }
    case 'move comment': return { resource: 'comments', operation: 'update', id: comment, data: { postId: newPost }, as }
    case 'change comment': return { resource: 'comments', operation: 'update', id: comment, data: { body: title }, as }
    case 'delete post': return { resource: 'posts', operation: 'delete', id: post }
    case 'delete comment': return { resource: 'comments', operation: 'delete', id: comment }
    case 'restore post': return { resource: 'posts', operation: 'restore', id: post, as }
    default: return { resource: 'comments', operation: 'restore', id: comment, as }
  }
}))

const METHODS = { create: 'POST', update: 'PATCH', delete: 'DELETE', restore: 'POST' } as const

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('a batch', () => {
    const { dialect, runs } = engineCase
    let blog: Blog
    beforeAll(async () => {
      blog = await openBlog(engineCase, { plugins: [batch()] })
    })
    beforeEach(() => reset(blog, dialect))
    afterAll(() => blog?.opened.close())

    const send = (list: readonly unknown[], query = '') => blog.request('POST', `/api/batch${query}`, { body: { steps: list }, caller: WRITER })

    /** Sends each step as a request of its own. A step that refers to a refused one cannot be sent. */
    async function sendAlone(list: readonly Step[]) {
      const records = new Map<string, Readonly<Record<string, unknown>>>()
      const outcomes: (readonly [status: number, code: string | undefined])[] = []
      for (const { resource, operation, id, data, as } of list) {
        const valueOf = (value: unknown) => {
          const ref = (value as { readonly $ref?: string } | undefined)?.$ref
          return ref === undefined ? value : records.get(ref.split('.')[0]!)?.[ref.split('.')[1]!]
        }
        const values = data && Object.entries(data).map(([name, value]) => [name, valueOf(value)] as const)
        if ((id !== undefined && valueOf(id) === undefined) || values?.some(([, value]) => value === undefined)) {
          outcomes.push([400, 'INVALID_BODY'])
          continue
        }
        const path = `/api/${resource}${operation === 'create' ? '' : `/${String(valueOf(id))}`}${operation === 'restore' ? '/restore' : ''}`
        const sent = { caller: WRITER, ...values && { body: Object.fromEntries(values) } }
        const { status, body } = await blog.request(METHODS[operation], path, sent)
        if (status < 300 && as !== undefined) records.set(as, body)
        outcomes.push([status, body?.data?.code])
      }
      return outcomes
    }

    /** All rows, without generated ids and times. */
    async function rows(): Promise<readonly string[]> {
      const { all } = blog.opened
      const trash = (alias: string) => `case when ${alias}.deleted_at is null then 0 else 1 end`
      const posts = await all(`select p.title, p.organization_id, ${trash('p')} from posts p`)
      const comments = await all(`select c.body, c.organization_id, ${trash('c')}, p.title, r.body from comments c
        left join posts p on p.id = c.post_id left join comments r on r.id = c.parent_id`)
      return [...posts, ...comments].map(row => row.map(value => value === null ? '-' : String(value)).join(' | ')).sort()
    }

    it('refuses exactly what its steps refuse alone, and writes the same rows', async () => {
      const counts = new Map<string, number>()
      const compare = async (list: readonly Step[]) => {
        await reset(blog, dialect)
        const alone = await sendAlone(list)
        const expected = await rows()
        await reset(blog, dialect)
        const before = JSON.stringify(await dump(blog))
        const { status, body } = await send(list)
        counts.set(status === 200 ? 'written' : 'refused', (counts.get(status === 200 ? 'written' : 'refused') ?? 0) + 1)
        const refused = alone.flatMap(([status, code], step) => status >= 400 ? [{ step, statusCode: status, code }] : [])
        if (refused.length === 0) {
          expect([status, body.data?.errors ?? [], await rows()]).toEqual([200, [], expected])
          expect(body.data).toHaveLength(list.length)
        }
        else {
          const errors = body.data.errors as readonly { step: number, statusCode: number, code: string }[]
          expect([status, body.data.code]).toEqual([errors[0]?.statusCode, 'BULK_FAILED'])
          for (const error of errors) expect(refused).toContainEqual({ step: error.step, statusCode: error.statusCode, code: error.code })
          expect(errors.length).toBeGreaterThan(0)
          expect(JSON.stringify(await dump(blog))).toBe(before)
        }
      }
      let last: Promise<void> | undefined
      await fc.assert(fc.asyncProperty(steps, list => last = compare(list)), { numRuns: Number(process.env.RUNS ?? runs) })
      // The time limit of a push ends the property, but not its last run.
      await last
      expect([...counts.keys()].sort()).toEqual(['refused', 'written'])
    }, 600_000)

    it('passes generated keys on, also through several steps', async () => {
      const { status, body } = await send([
        { resource: 'posts', operation: 'create', data: { title: 'a' }, as: 'a' },
        { resource: 'posts', operation: 'create', data: { title: 'b' }, as: 'b' },
        { resource: 'comments', operation: 'create', data: { body: 'on a', postId: { $ref: 'a.id' } }, as: 'comment' },
        { resource: 'comments', operation: 'create', data: { body: 'reply', parentId: { $ref: 'comment.id' } }, as: 'reply' },
        { resource: 'comments', operation: 'update', id: { $ref: 'comment.id' }, data: { body: 'on b', postId: { $ref: 'b.id' } } },
        { resource: 'posts', operation: 'update', id: { $ref: 'a.id' }, data: { title: 'renamed' } },
      ])
      expect([status, body.data?.errors]).toEqual([200, undefined])
      const [a, b, comment, reply, moved, renamed] = body.data
      expect(b.id).toBeGreaterThan(a.id)
      expect([comment.postId, reply.parentId, moved, renamed]).toMatchObject([a.id, comment.id, { id: comment.id, body: 'on b', postId: b.id },
        { id: a.id, title: 'renamed' }])
      expect(await rows()).toEqual(expect.arrayContaining(['on b | 1 | 0 | b | -', 'reply | 1 | 0 | - | on b', 'renamed | 1 | 0']))
    })

    it('finds the records of earlier steps also if a step between them is refused', async () => {
      const { status, body } = await send([
        { resource: 'comments', operation: 'create', data: { body: 'a', postId: 1 }, as: 'first' },
        { resource: 'comments', operation: 'create', data: { body: 'b', postId: 5 } },
        { resource: 'comments', operation: 'create', data: { body: 'c', parentId: { $ref: 'first.id' } } },
      ])
      expect([status, body.data.errors.map(({ step, code }: { step: number, code: string }) => `${step} ${code}`)])
        .toEqual([400, ['1 INVALID_REFERENCE']])
    })

    it('takes effect as a whole, also if others write the same records in the opposite order at once', async () => {
      const rename = (ids: readonly number[], name: string) =>
        ids.map(id => ({ resource: 'posts', operation: 'update', id, data: { title: `${name} ${id}` } }))
      const answers = await Promise.all(Array.from({ length: 10 }, (_, index) =>
        send(rename(index % 2 === 0 ? [1, 2, 3] : [3, 2, 1], `batch ${index}`))))
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
      const titles = await blog.opened.all('select title from posts where id in (1, 2, 3) order by id')
      const name = String(titles[0]![0]).replace(/ 1$/, '')
      expect(titles.map(([title]) => title)).toEqual([1, 2, 3].map(id => `${name} ${id}`))
    })

    // Otherwise, two batches that reference the records which the other one writes wait for each other.
    if (dialect !== 'sqlite') it('first locks the records that it writes and those that it references, in one statement', async () => {
      blog.opened.sent()
      const { status } = await send([
        { resource: 'posts', operation: 'update', id: 3, data: { title: 'new' } },
        { resource: 'comments', operation: 'create', data: { body: 'new', postId: 2 } },
      ])
      const [first] = blog.opened.sent().filter(({ text }) => / for (?:no key )?update| for share| lock in share mode/.test(text))
      expect([status, JSON.stringify(first!.values)]).toEqual([200, expect.stringMatching(/3.*2|2.*3/)])
    })

    it('writes nothing in a dry run, and answers what the steps would answer', async () => {
      const before = JSON.stringify(await dump(blog))
      const { status, body } = await send([
        { resource: 'posts', operation: 'create', data: { title: 'a' }, as: 'a' },
        { resource: 'comments', operation: 'create', data: { body: 'on a', postId: { $ref: 'a.id' } } },
        { resource: 'posts', operation: 'delete', id: 1 },
      ], '?dryRun=true')
      expect([status, body.data?.map((answer: object) => 'title' in answer ? answer.title : 'body' in answer ? answer.body : Object.keys(answer))])
        .toEqual([200, ['a', 'on a', expect.arrayContaining(['affected'])]])
      expect(JSON.stringify(await dump(blog))).toBe(before)
    })
  })
})
