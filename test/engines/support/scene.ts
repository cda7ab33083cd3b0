/** Seeds posts, comments, replies and links, and takes snapshots of them that do not depend on generated ids and times. */
import type { Dialect } from '../../../src/runtime/shared/dialects'
import { CLEAR, type Blog } from './blog'

const TIMES = { sqlite: '1000', pg: `'2026-01-01T00:00:00Z'`, mysql: `'2026-01-01 00:00:00'` }

/** The assignments of an UPDATE that soft-deletes rows without the API. */
export const trashAssignments = (dialect: Dialect, group: string) => `deleted_at = ${TIMES[dialect]}, deletion_id = '${group}'`

/**
 * Post 1 has two comments, one of them with a reply. One request deleted posts 4 and 5. Comment 42 on post 4 was deleted before.
 * Post 9 belongs to another tenant.
 */
const seed = (time: string) => `
  insert into posts (id, organization_id, title) values (1, 1, 'one'), (2, 1, 'two'), (3, 1, 'three'), (9, 2, 'theirs');
  insert into posts (id, organization_id, title, deleted_at, deletion_id) values (4, 1, 'four', ${time}, 'd4'), (5, 1, 'five', ${time}, 'd4');
  insert into comments (id, organization_id, post_id, parent_id, body) values (11, 1, 1, null, 'c11'), (12, 1, 1, null, 'c12'), (21, 1, 2, null, 'c21'), (111, 1, null, 11, 'c111');
  insert into comments (id, organization_id, post_id, parent_id, body, deleted_at, deletion_id) values (41, 1, 4, null, 'c41', ${time}, 'd4'), (42, 1, 4, null, 'c42', ${time}, 'd42'), (411, 1, null, 41, 'c411', ${time}, 'd4');
  insert into post_tags values (1, 1), (1, 2);
`

/** Postgres would generate ids from 1, which the seed already uses. */
const RESTART_SEQUENCES = {
  sqlite: '',
  mysql: '',
  pg: 'alter sequence posts_id_seq restart with 1000; alter sequence comments_id_seq restart with 1000;',
}

export const reset = ({ opened }: Blog, dialect: Dialect) => opened.exec(`${CLEAR}; ${RESTART_SEQUENCES[dialect]} ${seed(TIMES[dialect])}`)

/** All rows of all tables. */
export async function dump({ opened }: Blog): Promise<unknown[][][]> {
  return [
    await opened.all('select * from posts order by id'),
    await opened.all('select * from comments order by id'),
    await opened.all('select * from post_tags order by 1, 2'),
    await opened.all('select * from tags order by id'),
  ]
}

/**
 * All rows, each with its title or body instead of its generated id. A `deletionId` is replaced by the names of the rows that have it,
 * because every delete generates a new one.
 */
export async function snapshot({ opened }: Blog): Promise<string[]> {
  const posts = await opened.all(
    `select concat('post ', title), organization_id, deletion_id, case when deleted_at is null then 0 else 1 end from posts`,
  )
  const comments
    = await opened.all(`select concat('comment ', c.body), c.organization_id, c.deletion_id, case when c.deleted_at is null then 0 else 1 end, c.post_id, p.body
    from comments c left join comments p on p.id = c.parent_id`)
  const links = await opened.all(`select 'link', p.title, t.tag_id from post_tags t inner join posts p on p.id = t.post_id`)
  const all = [...posts, ...comments]
  const members = Map.groupBy(all.filter(row => row[2] !== null), row => row[2])
  const groupOf = (id: unknown) => id === null ? '-' : members.get(id)!.map(row => String(row[0])).sort().join('+')
  return [
    ...all.map(([name, tenant, group, trash, ...rest]) => [name, tenant, groupOf(group), trash, ...rest].join(' | ')),
    ...links.map(row => row.join(' | ')),
  ].sort()
}

export const WRITER = { user: { id: 1, organizationId: 1 }, permissions: ['write'] }

export type TestRequest = readonly [method: string, path: string, body?: unknown]

/** Returns the status, and the code if the request failed: `200`, `404 NOT_FOUND`. */
export async function send(blog: Blog, [method, path, body]: TestRequest): Promise<string> {
  const { status, body: response } = await blog.request(method, `/api/${path}`, { body, caller: WRITER })
  return status < 400 ? String(status) : `${status} ${response.data?.code ?? response.message}`
}
