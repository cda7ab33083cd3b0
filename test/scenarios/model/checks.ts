/** What must hold after each commit of a simulated run. */
import { expect } from 'vitest'
import type { Row } from '../../../src/runtime/server/engines/engine'
import type { CALLERS } from './plans'
import type { Commit, Dump } from './simulation'

export const sameRows = (a: Dump, b: Dump) => JSON.stringify(a) === JSON.stringify(b)

/** The position of each column. */
const POST = { id: 0, tenant: 1, title: 2, deletedAt: 3, group: 4 }
const COMMENT = { id: 0, tenant: 1, post: 2, parent: 3, body: 4, deletedAt: 5, group: 6 }

type Sender = Pick<typeof CALLERS[number], 'tenant' | 'writes' | 'user'>

/** A commit changes rows of its caller's tenant only, records each change, and leaves no active row below one in the trash. */
export function checkCommit({ before, after, entries }: Commit, caller: Sender): void {
  const changes = changesOf(before, after)
  const tenants = new Set(changes.map(({ tenant }) => tenant))
  if (changes.length > 0) {
    expect([[...tenants], caller.writes], 'rows of the tenant of a writer').toEqual([[caller.tenant], true])
    const { id } = caller.user as { id: number }
    const recorded = entries.map(([kind, resource, record, other, user, tenant]) => [kind, resource, record, other, user, tenant].join(' '))
    const expected = changes.map(({ kind, resource, record, other, tenant }) => [kind, resource, record, other, id, tenant].join(' '))
    expect(recorded, 'the audit log').toEqual(expect.arrayContaining(expected))
    // A batch can update a row before it deletes it.
    expect(recorded.filter(entry => !expected.includes(entry) && !entry.startsWith('update')), 'of rows that did not change').toEqual([])
    expect(recorded.length, 'one entry for each change').toBe(new Set(recorded).size)
  }
  // An update to the values that the row has.
  else expect(entries.filter(([kind]) => kind !== 'update')).toEqual([])
  const restored = new Set(changes.filter(({ kind }) => kind === 'restore').map(({ record }) => record))
  const torn = new Set(tornRows(before))
  // A comment can be restored while its post is in the trash.
  expect(tornRows(after).filter(row => !torn.has(row) && !restored.has(row.split(' ')[1]!)), 'rows below a row that is in the trash').toEqual([])
}

/** Rows with half of a deletion, active rows below a row that is in the trash or gone, and links without a post. */
function tornRows({ posts, comments, links }: Dump): string[] {
  const isActive = (rows: readonly Row[], id: unknown, group: number) => rows.some(row => row[0] === id && row[group] === null)
  return [
    ...posts.filter(row => (row[POST.deletedAt] === null) !== (row[POST.group] === null)).map(([id]) => `post ${id}`),
    ...comments.filter((row) => {
      if ((row[COMMENT.deletedAt] === null) !== (row[COMMENT.group] === null)) return true
      if (row[COMMENT.group] !== null) return false
      return (row[COMMENT.post] !== null && !isActive(posts, row[COMMENT.post], POST.group))
        || (row[COMMENT.parent] !== null && !isActive(comments, row[COMMENT.parent], COMMENT.group))
    }).map(([id]) => `comment ${id}`),
    ...links.filter(([post]) => !posts.some(([id]) => id === post)).map(row => `link ${row.join(' ')}`),
  ]
}

interface Change {
  readonly kind: string
  readonly resource: string
  readonly record: string
  readonly other: string
  readonly tenant: number
}

function changesOf(before: Dump, after: Dump): Change[] {
  const links = (dump: Dump) => new Map(dump.links.map(row => [row.join(' '), row]))
  const [linksBefore, linksAfter] = [links(before), links(after)]
  const tenantOf = (post: unknown) => [...after.posts, ...before.posts].find(row => row[POST.id] === post)![POST.tenant] as number
  const linkChange = (kind: string, [post, tag]: Row): Change =>
    ({ kind, resource: 'posts', record: String(post), other: String(tag), tenant: tenantOf(post) })
  return [
    ...rowChanges('posts', before.posts, after.posts, POST.group),
    ...rowChanges('comments', before.comments, after.comments, COMMENT.group),
    ...[...linksAfter].filter(([key]) => !linksBefore.has(key)).map(([, row]) => linkChange('link', row)),
    ...[...linksBefore].filter(([key]) => !linksAfter.has(key)).map(([, row]) => linkChange('unlink', row)),
  ]
}

function rowChanges(resource: string, before: readonly Row[], after: readonly Row[], group: number): Change[] {
  const old = new Map(before.map(row => [row[0], row]))
  const now = new Map(after.map(row => [row[0], row]))
  const change = (kind: string, row: Row): Change =>
    ({ kind, resource, record: String(row[0]), other: '', tenant: row[1] as number })
  return [
    ...after.flatMap((row) => {
      const was = old.get(row[0])
      if (!was) return [change('create', row)]
      if (JSON.stringify(was) === JSON.stringify(row)) return []
      if (was[group] === row[group]) return [change('update', row)]
      return [change(row[group] === null ? 'restore' : 'delete', row)]
    }),
    ...before.filter(row => !now.has(row[0])).map(row => change('purge', row)),
  ]
}

interface Listed { readonly organizationId: number, readonly deletedAt?: unknown }

/** A list contains active rows of the tenant only. */
export function checkList({ data }: { data: readonly (Listed & { readonly comments: readonly Listed[] })[] }, tenant: number): void {
  const rows = data.flatMap(post => [post, ...post.comments])
  expect(rows.filter(row => row.organizationId !== tenant || row.deletedAt)).toEqual([])
}

/** The rows without what each run makes anew: times, and ids of deletions, which become numbers in the order of the rows. */
export function normalized({ posts, comments, links }: Dump): unknown {
  const groups = new Map<unknown, number>()
  const number = (group: unknown) => group === null ? null : (groups.has(group) || groups.set(group, groups.size), groups.get(group))
  const normalize = ({ group, deletedAt }: typeof POST | typeof COMMENT) => (value: unknown, index: number) =>
    index === group ? number(value) : index === deletedAt ? value === null : value
  return {
    posts: posts.map(row => row.map(normalize(POST))),
    comments: comments.map(row => row.map(normalize(COMMENT))),
    links,
  }
}
