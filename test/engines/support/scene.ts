/** Posts with comments, replies and links to begin with, and what of them can be compared whatever ids and times the server makes. */
import type { Dialect } from '../../../src/runtime/shared/dialects'
import { CLEAR, type Blog } from './blog'

const TIMES = { sqlite: '1000', pg: `'2026-01-01T00:00:00Z'`, mysql: `'2026-01-01 00:00:00'` }

/** SQL that puts rows into the trash, by any way that is not the API's. */
export const trashed = (dialect: Dialect, group: string) => `deleted_at = ${TIMES[dialect]}, deletion_id = '${group}'`

/** Post 1 has two comments, one with a reply; 4 and 5 went to the trash together, after a comment on 4 that is there on its own; 9 is another tenant's. */
const seed = (time: string) => `
  insert into posts (id, organization_id, title) values (1, 1, 'one'), (2, 1, 'two'), (3, 1, 'three'), (9, 2, 'theirs');
  insert into posts (id, organization_id, title, deleted_at, deletion_id) values (4, 1, 'four', ${time}, 'd4'), (5, 1, 'five', ${time}, 'd4');
  insert into comments (id, organization_id, post_id, parent_id, body) values (11, 1, 1, null, 'c11'), (12, 1, 1, null, 'c12'), (21, 1, 2, null, 'c21'), (111, 1, null, 11, 'c111');
  insert into comments (id, organization_id, post_id, parent_id, body, deleted_at, deletion_id) values (41, 1, 4, null, 'c41', ${time}, 'd4'), (42, 1, 4, null, 'c42', ${time}, 'd42'), (411, 1, null, 41, 'c411', ${time}, 'd4');
  insert into post_tags values (1, 1), (1, 2);
`

/** Postgres would count on from 1, into the ids above. */
const COUNT_ON = { sqlite: '', mysql: '', pg: 'alter sequence posts_id_seq restart with 1000; alter sequence comments_id_seq restart with 1000;' }

export const reset = ({ opened }: Blog, dialect: Dialect) => opened.exec(`${CLEAR}; ${COUNT_ON[dialect]} ${seed(TIMES[dialect])}`)

/** Everything the database holds, as it is. */
export async function dump({ opened }: Blog): Promise<unknown[][][]> {
  return [await opened.all('select * from posts order by id'), await opened.all('select * from comments order by id'), await opened.all('select * from post_tags order by 1, 2'), await opened.all('select * from tags order by id')]
}

/**
 * Everything it holds, rows by their own texts instead of ids that the server made. A group in the trash is told by its
 * members, for its id is made anew by every delete.
 */
export async function picture({ opened }: Blog): Promise<string[]> {
  const posts = await opened.all(`select concat('post ', title), organization_id, deletion_id, case when deleted_at is null then 0 else 1 end from posts`)
  const comments = await opened.all(`select concat('comment ', c.body), c.organization_id, c.deletion_id, case when c.deleted_at is null then 0 else 1 end, c.post_id, p.body
    from comments c left join comments p on p.id = c.parent_id`)
  const links = await opened.all(`select 'link', p.title, t.tag_id from post_tags t inner join posts p on p.id = t.post_id`)
  const all = [...posts, ...comments]
  const members = Map.groupBy(all.filter(row => row[2] !== null), row => row[2])
  const groupOf = (id: unknown) => id === null ? '-' : members.get(id)!.map(row => String(row[0])).sort().join('+')
  return [...all.map(([name, tenant, group, trash, ...rest]) => [name, tenant, groupOf(group), trash, ...rest].join(' | ')), ...links.map(row => row.join(' | '))].sort()
}

export const WRITER = { user: { id: 1, organizationId: 1 }, permissions: ['write'] }

/** A request and its answer in short. */
export type Asked = readonly [method: string, path: string, body?: unknown]

export async function ask(blog: Blog, [method, path, body]: Asked): Promise<string> {
  const { status, body: answer } = await blog.request(method, `/api/${path}`, { body, caller: WRITER })
  return status < 400 ? String(status) : `${status} ${answer.data?.code ?? answer.message}`
}
