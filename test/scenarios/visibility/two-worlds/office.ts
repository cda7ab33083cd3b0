/** The newsroom of the test kit with files, and with the plugins that have routes, store responses or record changes. */
import type Database from 'better-sqlite3'
import { eq, sql } from 'drizzle-orm'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import {
  activityFeed, auditLog, batch, dataExport, fileUpload, mcp, openApi, responseCache,
} from '../../../../src/runtime/plugins'
import { adminPlugin } from '../../../../src/runtime/plugins/admin'
import { tenant } from '../../../../src/runtime/plugins/schema-sqlite'
import { computed, type AutoApiContext } from '../../../../src/runtime/server/define'
import type { AutoApiPlugin } from '../../../../src/runtime/server/plugin/contract'
import { AUDIT_LOGS, auditLogSql } from '../../../engines/support/audit-log'
import { storage } from '../../../fixtures/visibility/server/files'
import { openNewsroom, posts, type Mistake } from '../../../unit/testing/newsroom'

const documents = sqliteTable('documents', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  ...tenant(),
  title: text('title').notNull(),
  isPublic: integer('is_public', { mode: 'boolean' }).notNull().default(false),
  scan: text('scan', { mode: 'json' }),
  cover: text('cover', { mode: 'json' }),
})

const file = (number: number) =>
  `'{"key":"01890000-0000-7000-8000-00000000000${number}","name":"${number}.csv","type":"text/csv","size":3,"sha256":"${'a'.repeat(64)}"}'`
const DOCUMENTS = `
create table documents (id integer primary key autoincrement, organization_id integer not null, title text not null,
  is_public integer not null default 0, scan text, cover text);
insert into documents values (1, 1, 'Prices', 1, ${file(1)}, ${file(2)}), (2, 1, 'Salaries', 0, ${file(3)}, ${file(4)}),
  (3, 2, 'Elsewhere', 1, ${file(5)}, null), (4, 1, 'Plan', 1, null, ${file(6)});
`

const csv = { accept: ['text/csv'], maxSize: 1000 }

const isEditor = (ctx: AutoApiContext) => ctx.permissions.includes('posts:edit')
const CACHED = ['posts', 'comments', 'users', 'tags', 'postTags', 'documents']

export interface Planted {
  readonly mistake?: Mistake
  readonly plugins?: (client: Database.Database) => readonly AutoApiPlugin[]
}

export async function openOffice({ mistake, plugins }: Planted = {}) {
  return await openNewsroom(mistake, {
    tables: await auditLogSql('sqlite') + DOCUMENTS,
    resources: {
      auditLog: { schema: AUDIT_LOGS.sqlite, authorization: { permissions: { read: true } } },
      documents: {
        schema: documents,
        protectedFields: ['cover', 'scan'],
        authorization: {
          permissions: { read: true, update: 'posts:write', delete: 'posts:edit' },
          fields: { scan: { read: 'posts:edit' } },
          listFilter: (table: typeof documents, ctx: AutoApiContext) => isEditor(ctx) ? undefined : eq(table.isPublic, true),
        },
      },
    },
    posts: { computed: { length: computed.integer(() => sql`length(${posts.title})`) } },
    plugins: client => [
      ...plugins?.(client) ?? [],
      adminPlugin({ hasMiddleware: true, branding: {}, pages: [], resources: {} }, {}),
      auditLog({ resources: CACHED }),
      activityFeed({ actor: { resource: 'users', label: 'name' }, labels: { posts: 'title' } }),
      batch(),
      dataExport(),
      fileUpload({ resources: { documents: { scan: csv, cover: csv } }, storage }),
      mcp({ write: true, except: ['auditLog', 'apiTokens'] }),
      openApi({ access: true }),
      responseCache({ resources: CACHED }),
    ] as unknown as readonly AutoApiPlugin[],
  })
}
