/** A newsroom with files: posts of two tenants with a cover and attachments, over real HTTP, on SQLite and a folder. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { FileUploadOptions } from '../../../src/runtime/plugins/index'
import { auditLog, fileSystemStorage, fileUpload } from '../../../src/runtime/plugins/index'
import type { AutoApiPlugin } from '../../../src/runtime/server/define'
import type { ResourceRegistration } from '../../../src/runtime/server/registration'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import { AUDIT_LOGS, auditLogSql } from '../../engines/support/audit-log'
import { createServer, type Caller, type ListeningServer } from '../../support/server'

export const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(),
  organizationId: integer('organization_id').notNull(),
  title: text('title').notNull(),
  cover: text('cover', { mode: 'json' }).$type<unknown>(),
  files: text('files'),
  secret: text('secret', { mode: 'json' }),
  updatedBy: integer('updated_by'),
  deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
  deletionId: text('deletion_id'),
})

export const notes = sqliteTable('notes', {
  id: text('id').primaryKey(),
  postId: integer('post_id').references(() => posts.id, { onDelete: 'cascade' }),
  scan: text('scan', { mode: 'json' }),
})

const TABLES = `
  create table posts (id integer primary key, organization_id integer not null, title text not null, cover text, files text, secret text,
    updated_by integer, deleted_at integer, deletion_id text);
  create table notes (id text primary key, post_id integer references posts (id) on delete cascade, scan text);
  insert into posts (id, organization_id, title) values (1, 1, 'First'), (2, 2, 'Foreign'), (4, 1, 'Private');
  insert into posts (id, organization_id, title, deleted_at) values (3, 1, 'Trashed', 1);
  insert into notes (id, post_id) values ('a', 1), ('b', null);
`

export const EDITOR: Caller = { user: { id: 7, organizationId: 1 }, permissions: ['edit', 'read'] }
export const READER: Caller = { user: { id: 8, organizationId: 1 }, permissions: ['read'] }
export const FOREIGN: Caller = { user: { id: 9, organizationId: 2 }, permissions: ['edit', 'read'] }
export const ANONYMOUS: Caller = {}

export interface WorldOptions {
  readonly fields?: FileUploadOptions['resources']
  readonly storage?: FileUploadOptions['storage']
  readonly hooks?: ResourceRegistration['hooks']
  readonly requireIfMatch?: boolean
  readonly plugins?: readonly AutoApiPlugin[]
  /** Whether the plugin `auditLog` records the changes. */
  readonly audited?: boolean
}

export const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

export async function openWorld({ fields, storage, hooks, requireIfMatch, plugins = [], audited = false }: WorldOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'uploads-'))
  const client = new Database(':memory:')
  client.exec(TABLES)
  if (audited) client.exec(await auditLogSql('sqlite'))
  client.pragma('foreign_keys = on')
  const plugin = fileUpload({
    resources: fields ?? {
      posts: {
        cover: { accept: IMAGES, maxSize: '200kb', maxPixels: 1_000_000 },
        files: {
          accept: ['image/*', 'application/pdf', 'text/plain', 'text/csv', 'application/zip'],
          maxSize: '200kb',
          multiple: true,
          maxFiles: 3,
        },
        secret: { accept: ['image/png'] },
      },
      notes: { scan: { accept: ['image/png'] } },
    },
    storage: storage ?? fileSystemStorage({ base: folder }),
  })
  const server = await createServer({
    db: drizzle({ client }),
    config: { multiTenancy: { ...DEFAULT_MULTI_TENANCY, excludedResources: ['notes'] } },
    plugins: [plugin, ...plugins, ...audited ? [auditLog()] : []],
    built: ['fileUpload.resources', 'fileUpload.buildSetup'],
    modules: [{ posts, notes }],
    registrations: [
      {
        name: 'posts', schema: posts, hooks, requireIfMatch, protectedFields: ['cover', 'files', 'secret'],
        authorization: {
          permissions: { read: 'read', create: 'edit', update: 'edit', delete: 'edit', purge: 'edit', restore: 'edit' },
          objectLevel: (row: { title: string }, ctx: { operation: string, user: { id?: unknown } | null }) =>
            row.title !== 'Private' || ctx.user?.id === 1,
          fields: { secret: { read: 'never', write: 'never' } },
        },
      },
      {
        name: 'notes', schema: notes, protectedFields: ['scan'],
        authorization: { permissions: { read: true, create: 'edit', update: 'edit', delete: 'edit' } },
      },
      ...audited ? [{ name: 'auditLog', schema: AUDIT_LOGS.sqlite, authorization: { permissions: { read: 'read' } } }] : [],
    ] as ResourceRegistration[],
  })
  let listening: ListeningServer | undefined
  let listeningFor: Caller | undefined
  const listen = async (caller: Caller): Promise<ListeningServer> => {
    if (!listening) listening = await server.listen(caller)
    else if (listeningFor !== caller) {
      await listening.close()
      listening = await server.listen(caller)
    }
    listeningFor = caller
    return listening
  }
  return {
    folder,
    client,
    server,
    listen,
    async send(caller: Caller, method: string, path: string, init: RequestInit = {}) {
      const { url } = await listen(caller)
      const response = await fetch(`${url}/api${path}`, {
        method,
        ...init,
        ...(init.body instanceof ReadableStream && ({ duplex: 'half' } as object)),
      })
      const bytes = Buffer.from(await response.arrayBuffer())
      const isJson = response.headers.get('content-type')?.includes('json')
      // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test reads whatever a response contains
      const body: any = isJson && bytes.byteLength > 0 ? JSON.parse(bytes.toString()) : undefined
      return { status: response.status, headers: response.headers, bytes, body, code: body?.data?.code as string | undefined }
    },
    /** The keys in the storage. */
    stored: () => filesIn(folder),
    row: (id: number | string, table = 'posts') => client.prepare(`select * from ${table} where id = ?`).get(id) as Record<string, unknown>,
    async close() {
      await listening?.close()
      client.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export type World = Awaited<ReturnType<typeof openWorld>>

export function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(folder.length + 1)).sort()
}

export function form(content: Uint8Array | string, name: string, type = ''): FormData {
  const data = new FormData()
  data.append('file', new File([content as never], name, { type }))
  return data
}

/** Sends raw text over a connection, and returns everything that comes back until the server closes or `wait` ms have passed. */
export function sendRaw(port: number, parts: readonly (string | Uint8Array)[], { leave = false, wait = 3000 } = {}): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let received = ''
    const finish = () => {
      clearTimeout(timer)
      socket.destroy()
      resolve(received)
    }
    const timer = setTimeout(finish, wait)
    socket.on('data', data => void (received += data.toString('latin1')))
    socket.on('close', finish)
    socket.on('error', finish)
    for (const part of parts) socket.write(part)
    if (leave) setTimeout(finish, 200)
  })
}
