/** Sends random writes and compares the changes that plugins receive with a diff of the whole database, commit by commit. */
import fc from 'fast-check'
import { eq, getTableColumns, inArray, type Table } from 'drizzle-orm'
import { expect } from 'vitest'
import { defineAutoApiPlugin, type AutoApiContext, type Change, type ChangedRows } from '../../../src/runtime/server/define'
import type { Dialect } from '../../../src/runtime/shared/dialects'
import { createServer, type TestServer } from '../../support/server'
import type { EngineCase, Opened } from '../support/databases'
import {
  clear,
  createLedger,
  createTables,
  ddl,
  LEDGER,
  LEDGER_DDL,
  nameIn,
  propertiesOf,
  specOf,
  TABLES,
  toSnake,
  type TableName,
  type TableSpec,
} from './tables'

type Rows = ReadonlyMap<string, Readonly<Record<string, unknown>>>
type Dump = ReadonlyMap<TableName, Rows>

export interface Command {
  readonly kind: typeof KINDS[number]
  readonly table: number
  /** The rows that the command names, as positions in the table. */
  readonly rows: readonly number[]
  readonly other: number
  /** 0: all items in one commit; 1: each in its own, with hooks and object rules. */
  readonly server: 0 | 1
}

const KINDS = [
  'create',
  'update',
  'repeat',
  'reference',
  'delete',
  'restore',
  'purge',
  'bulk create',
  'bulk update',
  'bulk delete',
  'bulk restore',
  'bulk purge',
  'restore group',
  'purge group',
  'link',
  'unlink',
  'replace',
  'replace several',
  'report',
  'retention',
] as const

export const command: fc.Arbitrary<Command> = fc.record({
  kind: fc.constantFrom(...KINDS, 'delete', 'delete', 'bulk delete', 'purge', 'restore', 'link', 'unlink', 'replace'),
  table: fc.nat(99), rows: fc.uniqueArray(fc.nat(5), { minLength: 1, maxLength: 3 }), other: fc.nat(5), server: fc.constantFrom(0, 1),
})

/** One command of each kind on the teams, whose rows have the most dependents. */
export const FIRST_COMMANDS: readonly Command[] = [
  'create',
  'update',
  'repeat',
  'delete',
  'restore',
  'bulk delete',
  'restore group',
  'link',
  'replace',
  'unlink',
  'replace several',
  'report',
  'delete',
  'purge group',
  'purge',
  'delete',
  'retention',
].map(kind => ({ kind: kind as Command['kind'], table: 0, rows: [0], other: 0, server: 0 }))

const RESOURCES = TABLES.filter(([, { registered }]) => registered !== false)
const JUNCTIONS = [
  'posts.tags',
  'posts.topics',
  'posts.labels',
  'people.groups',
  'tags.posts',
  'labels.posts',
  'groups.people',
  'topics.posts',
] as const
const JUNCTION_OF: Readonly<Record<string, TableName>> = {
  tags: 'postTags',
  topics: 'postTopics',
  labels: 'postLabels',
  groups: 'memberships',
}
const isLink = (kind: Command['kind']) => ['link', 'unlink', 'replace', 'replace several'].includes(kind)

/** One request of the API, with the rows that it names as far as it names them by id. */
interface Request {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly named?: readonly string[]
}

export class World {
  readonly #tables: Readonly<Record<TableName, Table>>
  #servers: readonly TestServer[] = []
  #last: Dump = new Map()
  #running: { readonly command: Command, readonly request: Request } | undefined
  #failures: unknown[] = []
  readonly counts = new Map<string, number>()

  private constructor(
    readonly opened: Opened,
    readonly dialect: Dialect,
    readonly audited: boolean,
  ) {
    this.#tables = createTables(dialect)
  }

  /** If it is `audited`, a plugin also inserts a row with its images for every change, in the commit of the change. */
  static async open({ open, dialect, engine }: EngineCase, audited: boolean): Promise<World> {
    const opened = await open()
    await opened.exec(`${ddl(dialect)}; ${LEDGER_DDL}`)
    const world = new World(opened, dialect, audited)
    const ledger = createLedger(dialect)
    const auditor = defineAutoApiPlugin({
      name: 'auditor',
      needs: { images: true },
      inCommit: changes => changes.map(rows => rows.insertInto(ledger, toEntry(rows) as never)),
    })
    const listener = { name: 'listener', onCommit: (changes: readonly Change[]) => world.#check(changes) }
    const permissions = { read: true, create: true, update: true, delete: true } as const
    const always = () => true
    const serve = (variant: 0 | 1) =>
      createServer({
        db: opened.db,
        engine,
        plugins: [listener, ...(audited ? [auditor] : [])],
        modules: [world.#tables],
        registrations: RESOURCES.map(([name, { trash }]) => ({
          name,
          schema: world.#tables[name],
          authorization: {
            permissions,
            ...(variant === 1 && { objectLevel: always }),
            ...(trash && { softDelete: { retentionDays: 1, ...(variant === 1 && name === 'topics' && { cascade: 'off' as const }) } }),
          },
          ...(variant === 1 && { hooks: { afterCreate: always as never, beforeDelete: always as never } }),
        })),
        config: { bulk: { enabled: true, maxBatchSize: 100, transactional: variant === 0 } },
        endpoints: async () => {
          const { atomicWrites, createEndpoint, reportChanges } = await import('../../../src/runtime/server/utils/index')
          return {
            'POST /own': createEndpoint({
              handler: ctx => atomicWrites(ctx, world.#ownWrites(ctx as AutoApiContext, reportChanges) as never),
            }),
          }
        },
      })
    world.#servers = [await serve(1), await serve(0)].toReversed()
    return world
  }

  /** Empties the tables and fills them again. */
  async reset(): Promise<void> {
    const { opened, dialect } = this
    this.#failures = []
    await opened.exec(`${clear(dialect)}; delete from ledger`)
    await opened.exec(seed(dialect))
    this.#last = await this.#dump()
  }

  async run(command: Command): Promise<void> {
    const request = this.#toRequest(command)
    this.#running = { command, request }
    if (command.kind === 'retention') await purgeOld()
    else {
      const { status, text } = await this.#servers[command.server]!.request(
        request.method,
        `/${command.kind === 'report' ? '' : 'api/'}${request.path}`,
        { body: request.body, caller: { user: { id: 1 } } },
      )
      this.#count(`${command.kind} ${status}`)
      expect([request, status < 500 || text]).toEqual([request, true])
    }
    if (this.#failures.length > 0) throw this.#failures[0]
    // What no commit reported.
    await this.#check([])
    if (this.#failures.length > 0) throw this.#failures[0]
  }

  #count(key: string): void {
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1)
  }

  async #check(changes: readonly Change[]): Promise<void> {
    const { command, request } = this.#running!
    const before = this.#last
    const after = (this.#last = await this.#dump())
    try {
      expect({ request, changes: toldOf(changes) }).toEqual({ request, changes: expected(before, after, changes, command, request) })
      if (this.audited)
        expect({ request, entries: await this.#takeEntries() }).toEqual({
          request,
          entries: changes.map(change => entryOf(change, before, after)).sort(),
        })
      for (const { kind } of changes) this.#count(kind)
    }
    catch (error) {
      this.#failures.push(error)
    }
  }

  /** Reads the entries of the ledger and removes them. */
  async #takeEntries(): Promise<readonly string[]> {
    const rows = await this.opened.all(`select ${LEDGER.map(toSnake).join(', ')} from ledger`)
    if (rows.length > 0) await this.opened.exec('delete from ledger')
    return rows
      .map(([place, kind, recordId, cascaded, ...images]) => {
        const [columns, old, current] = images.map(text => JSON.parse(String(text)) as unknown) as [string[], Stored | null, Stored | null]
        return showEntry({ place, kind, recordId, cascaded: cascaded === 'yes' }, columns, old, current)
      })
      .sort()
  }

  async #dump(): Promise<Dump> {
    const dump = new Map<TableName, Rows>()
    const tables = await this.#readAll()
    for (const [position, [name, spec]] of TABLES.entries()) {
      const properties = propertiesOf(spec)
      const rows = tables[position]!
      dump.set(
        name,
        new Map(
          rows
            .map((row) => {
              const values = Object.fromEntries(
                properties.map((property, index) => [property, row[index] === null ? null : String(row[index])]),
              )
              return [idOf(spec, values), values]
            })
            .sort(([a], [b]) => String(a).localeCompare(String(b), 'en', { numeric: true })) as [string, Record<string, unknown>][],
        ),
      )
    }
    return dump
  }

  /** The rows of every table. One statement reads them all on SQLite, where D1 takes milliseconds for each. */
  async #readAll(): Promise<readonly (readonly unknown[][])[]> {
    const columns = (spec: TableSpec) => propertiesOf(spec).map(toSnake).join(', ')
    if (this.dialect === 'sqlite') {
      const [row] = await this.opened.all(
        `select ${TABLES.map(([name, spec]) => `(select json_group_array(json_array(${columns(spec)})) from ${toSnake(name)})`).join(', ')}`,
      )
      return row!.map(text => JSON.parse(String(text)) as unknown[][])
    }
    const tables: unknown[][][] = []
    for (const [name, spec] of TABLES) tables.push(await this.opened.all(`select ${columns(spec)} from ${nameIn(this.dialect, name)}`))
    return tables
  }

  #ids(table: TableName): readonly string[] {
    return [...this.#last.get(table)!.keys()]
  }

  #pick(table: TableName, position: number): string {
    const ids = this.#ids(table)
    return ids.length === 0 ? '999' : ids[position % ids.length]!
  }

  #toRequest(command: Command): Request {
    const { kind, table, rows, other } = command
    if (isLink(kind)) return this.#toLinkRequest(command)
    if (kind === 'report' || kind === 'retention') return { method: 'POST', path: 'own' }
    const [name, spec] = RESOURCES[table % RESOURCES.length]!
    // Most rows are not in the trash.
    const trashed = [...this.#last.get(name)!].filter(([, row]) => row.deletedAt).map(([id]) => id)
    const candidates = kind.endsWith('restore') && trashed.length > 0 ? trashed : this.#ids(name)
    const ids = [...new Set(rows.map(position => candidates[position % candidates.length] ?? '999'))]
    const [id] = ids as [string]
    const current = this.#last.get(name)!.get(id)
    const numbered = (text: string) => (spec.key.length === 1 ? Number(text) : text)
    const named = ids.map(text => `${toSnake(name)} ${text}`)
    const group = String([...this.#last.get(name)!.values()].find(row => row.deletionId)?.deletionId ?? 'none')
    const data = (position: number) => ({ ...this.#references(spec, position), name: `n${position}` })
    switch (kind) {
      case 'create':
        return { method: 'POST', path: name, body: { ...this.#keys(spec, other), ...data(other) } }
      case 'update':
        return {
          method: 'PATCH',
          path: `${name}/${id}`,
          body: { name: `u${other}`, ...((spec.unique ?? []).includes('slug') && { slug: `s${id}-${other}` }) },
          named: named.slice(0, 1),
        }
      case 'repeat':
        return { method: 'PATCH', path: `${name}/${id}`, body: other < 2 ? {} : { name: current?.name ?? null }, named: named.slice(0, 1) }
      case 'reference':
        return { method: 'PATCH', path: `${name}/${id}`, body: this.#references(spec, other), named: named.slice(0, 1) }
      case 'delete':
        return { method: 'DELETE', path: `${name}/${id}`, named: named.slice(0, 1) }
      case 'restore':
        return { method: 'POST', path: `${name}/${id}/restore`, named: named.slice(0, 1) }
      case 'purge':
        return { method: 'DELETE', path: `${name}/${id}?force=true`, named: named.slice(0, 1) }
      case 'bulk create':
        return {
          method: 'POST',
          path: `${name}/bulk`,
          body: { items: rows.map(position => ({ ...this.#keys(spec, position), ...data(position) })) },
        }
      case 'bulk update':
        return {
          method: 'PATCH',
          path: `${name}/bulk`,
          body: {
            items: ids.map((text, index) => ({
              id: numbered(text),
              data: index === 0 ? this.#references(spec, other) : { name: `b${other}` },
            })),
          },
          named,
        }
      case 'bulk delete':
        return { method: 'DELETE', path: `${name}/bulk`, body: { ids: ids.map(numbered) }, named }
      case 'bulk restore':
        return { method: 'POST', path: `${name}/bulk/restore`, body: { ids: ids.map(numbered) }, named }
      case 'bulk purge':
        return { method: 'DELETE', path: `${name}/bulk?force=true`, body: { ids: ids.map(numbered) }, named }
      case 'restore group':
        return { method: 'POST', path: `${name}/bulk/restore`, body: { deletionId: group } }
      default:
        return { method: 'DELETE', path: `${name}/bulk?force=true`, body: { deletionId: group } }
    }
  }

  #toLinkRequest({ kind, table, rows, other }: Command): Request {
    const [from, to] = JUNCTIONS[table % JUNCTIONS.length]!.split('.') as [TableName, TableName]
    const ids = (target: TableName) => [...new Set(rows.map(position => Number(this.#pick(target, position))))]
    const path = `${from}/${this.#pick(from, other)}/relations`
    if (kind !== 'replace several')
      return { method: { link: 'POST', unlink: 'DELETE', replace: 'PUT' }[kind as 'link'], path: `${path}/${to}`, body: { ids: ids(to) } }
    const relations = { tags: { ids: ids('tags') }, topics: { ids: [] }, labels: { ids: ids('labels') } }
    return { method: 'PUT', path: `posts/${this.#pick('posts', other)}/relations`, body: { relations } }
  }

  /** The key columns of a new row whose key is not generated. */
  #keys({ key, references = [] }: TableSpec, position: number) {
    return key[0] === 'id'
      ? {}
      : Object.fromEntries(
          key.map(column => [
            column,
            Number(this.#pick(references.find(({ columns }) => columns.includes(column))!.to as TableName, position)),
          ]),
        )
  }

  /** Values of the foreign keys that are no part of the primary key. Every third is null. */
  #references({ key, references = [] }: TableSpec, position: number): Record<string, unknown> {
    return Object.fromEntries(
      references.flatMap(({ columns, to, foreign }, index) => {
        if (key.includes(columns[0]!)) return []
        const row
          = (position + index) % 3 === 2 ? undefined : this.#last.get(to as TableName)!.get(this.#pick(to as TableName, position + index))
        const referenced = foreign ?? specOf(to as TableName).key
        return columns.map((column, at) => {
          const value = row?.[referenced[at]!]
          return [column, value === undefined || value === null ? null : /^\d+$/.test(String(value)) ? Number(value) : value]
        })
      }),
    )
  }

  /** Updates two posts, adds a tag with a given id and removes a thumb without dependents, with a report of these rows. */
  #ownWrites(
    ctx: AutoApiContext,
    reportChanges: typeof import('../../../src/runtime/server/utils/index').reportChanges,
  ): readonly unknown[] {
    const { posts, tags, reactions } = this.#tables
    const [{ rows, other }, postId] = [this.#running!.command, getTableColumns(posts).id!]
    const ids = [...new Set(rows.map(position => Number(this.#pick('posts', position))))]
    const tag = 1 + Math.max(0, ...this.#ids('tags').map(Number))
    const reaction = this.#last.get('reactions')!.get(this.#pick('reactions', other))
    const existing = ids.filter(id => this.#last.get('posts')!.has(String(id)))
    type Db = {
      update: (table: Table) => { set: (values: object) => { where: (where: unknown) => unknown } }
      insert: (table: Table) => { values: (values: object) => unknown }
      delete: (table: Table) => { where: (where: unknown) => unknown }
    }
    return [
      reportChanges(
        ctx,
        existing.map(id => ({ resource: 'posts', kind: 'update' as const, id })),
      ),
      (db: Db) =>
        db
          .update(posts)
          .set({ name: `own ${other} ${tag}` })
          .where(inArray(postId, ids)),
      (db: Db) => db.insert(tags).values({ id: tag, name: 'own' }),
      ...(reaction ? [(db: Db) => db.delete(reactions).where(eq(getTableColumns(reactions).mark!, reaction.mark))] : []),
      reportChanges(ctx, [{ table: 'tags', kind: 'create', id: tag }]),
      reportChanges(
        ctx,
        [...this.#last.get('reactions')!]
          .filter(([, { mark }]) => reaction && mark === reaction.mark)
          .map(([id]) => ({ table: reactions, kind: 'purge' as const, id })),
      ),
    ]
  }
}

type Stored = Readonly<Record<string, unknown>>

const toEntry = ({ table, kind, cascaded, id, columns, before, after }: ChangedRows) =>
  ({ place: table, kind, recordId: id, cascaded: cascaded ? 'yes' : 'no', columnList: columns, old: before, current: after })

/** The entry of the ledger that a change must have, from the tables before and after the commit. */
function entryOf({ table, kind, id, cascaded }: Change, before: Dump, after: Dump): string {
  const [name, spec] = TABLES.find(([name]) => toSnake(name) === table)!
  const old = kind === 'create' || kind === 'link' ? undefined : before.get(name)!.get(id)
  const current = ['purge', 'unlink'].includes(kind) || (kind === 'delete' && !spec.trash) ? undefined : after.get(name)!.get(id)
  const columns = propertiesOf(spec).filter(property => !old || !current || old[property] !== current[property])
  const pick = (row: Stored | undefined) => row ? Object.fromEntries(columns.map(column => [column, row[column]])) : null
  return showEntry({ place: table, kind, recordId: id, cascaded: cascaded ?? false }, columns, pick(old), pick(current))
}

/** The time of a delete is shown as a word, because drivers return times in different forms. */
function showEntry(change: object, columns: readonly string[], ...images: readonly (Stored | null)[]): string {
  const show = (value: unknown, name: string) => value === null ? null : name === 'deletedAt' ? 'deleted' : String(value)
  const shown = images.map(image => image && columns.toSorted().map(name => [name, show(image[name], name)]))
  return JSON.stringify([change, columns.toSorted(), ...shown])
}

async function purgeOld(): Promise<void> {
  const { purgeExpiredTrash } = await import('../../../src/runtime/server/utils/trash')
  await purgeExpiredTrash(new Date(Date.now() + 2 * 86_400_000))
}

function idOf({ key }: TableSpec, values: Readonly<Record<string, unknown>>): string {
  const texts = key.map(column => String(values[column]))
  return texts.length === 1 ? texts[0]! : texts.map(encodeURIComponent).join(',')
}

const told = (kind: string, { table, resource, id, cascaded }: Omit<Change, 'kind'>) =>
  `${kind} ${table} ${id}${resource ? '' : ' (no resource)'}${cascaded ? ' cascaded' : ''}`
const toldOf = (changes: readonly Change[]) => changes.map(({ kind, ...rest }) => told(kind, rest)).sort()

/** What the diff of two dumps says, in the words of the changes. */
function expected(before: Dump, after: Dump, changes: readonly Change[], { kind, server }: Command, { named }: Request): readonly string[] {
  const reported = new Map(changes.map(change => [`${change.table} ${change.id}`, change]))
  return TABLES.flatMap(([name, spec]) => {
    const table = toSnake(name)
    const [old, now] = [before.get(name)!, after.get(name)!]
    const junction = isLink(kind) && Object.values(JUNCTION_OF).includes(name)
    return [...new Set([...old.keys(), ...now.keys()])].flatMap((id) => {
      const key = `${table} ${id}`
      const change = reported.get(key)
      const kinds = kindsOf(old.get(id), now.get(id), spec, junction, named?.includes(key) ?? !isLink(kind))
      // An update that sets the values that a row already has is reported, because the row was written.
      const isRepeated = kinds.length === 0 && change?.kind === 'update' && named?.includes(key) && now.has(id)
      if (kinds.length === 0 && !isRepeated) return []
      // Each item of a batch that is not atomic has a commit of its own, which names only that item.
      const cascaded
        = named && !(server === 1 && kind.startsWith('bulk')) ? !named.includes(key) : isLink(kind) ? !junction : (change?.cascaded ?? false)
      return [
        told(isRepeated ? 'update' : change && kinds.includes(change.kind) ? change.kind : kinds[0]!, {
          table,
          id,
          ...(spec.registered !== false && { resource: name }),
          ...(cascaded && { cascaded }),
        }),
      ]
    })
  }).sort()
}

/** The kinds that describe how a row changed. */
function kindsOf(
  old: Readonly<Record<string, unknown>> | undefined,
  now: Readonly<Record<string, unknown>> | undefined,
  spec: TableSpec,
  junction: boolean,
  isNamed: boolean,
): readonly string[] {
  if (!old) return [junction ? 'link' : 'create']
  // A delete of a row without trash removes the row.
  if (!now) return junction ? ['unlink'] : spec.trash || !isNamed ? ['purge'] : ['delete', 'purge']
  if (JSON.stringify(old) === JSON.stringify(now)) return []
  if (old.deletedAt === null && now.deletedAt !== null) return [junction ? 'unlink' : 'delete']
  if (spec.trash && old.deletedAt !== null && now.deletedAt === null) return [junction ? 'link' : 'restore']
  return ['update']
}

/** Four rows in most tables, and links between them. */
function seed(dialect: Dialect): string {
  const insert = (name: TableName, columns: string, ...rows: string[]) =>
    `insert into ${nameIn(dialect, name)} (${columns}) values ${rows.map(row => `(${row})`).join(', ')}`
  const restart
    = dialect === 'pg'
      ? TABLES.filter(([, { key }]) => key[0] === 'id').map(([name]) => `alter sequence ${toSnake(name)}_id_seq restart with 1000`)
      : []
  return [
    ...restart,
    insert('teams', 'id, name, slug', `1, 'a', 's1'`, `2, 'b', 's2'`, `3, 'c', 's3'`),
    insert('people', 'id, name, team_id, boss_id', `1, 'a', 1, null`, `2, 'b', 1, 1`, `3, 'c', 2, 2`, `4, 'd', 2, null`),
    'update teams set owner_id = 1, deputy_id = 2 where id = 1',
    'update teams set owner_id = 3, deputy_id = 1 where id = 2',
    insert('images', 'id, name, parent_id', `1, 'a', null`, `2, 'b', 1`, `3, 'c', 2`, `4, 'd', null`),
    insert('thumbs', 'id, name, image_id', `1, 'a', 1`, `2, 'b', 3`, `3, 'c', 4`),
    insert('thumbNotes', 'id, name, thumb_id', `1, 'a', 1`, `2, 'b', 2`, `3, 'c', 3`),
    insert(
      'posts',
      'id, name, team_id, person_id, image_id, parent_id',
      `1, 'a', 1, 1, 1, null`,
      `2, 'b', 1, 2, 2, 1`,
      `3, 'c', 2, 3, 4, 2`,
      `4, 'd', null, 1, null, null`,
    ),
    insert(
      'comments',
      'id, name, post_id, person_id, thumb_id, comment_id',
      `1, 'a', 1, 1, 1, null`,
      `2, 'b', 1, 2, 2, 1`,
      `3, 'c', 3, 1, 3, 1`,
      `4, 'd', 4, 3, null, 2`,
    ),
    insert('reactions', 'comment_id, mark, name', `1, 'x', 'a'`, `2, 'a,b', 'b'`, `2, 'ä %', 'c'`, `3, '100%', 'd'`),
    insert('banners', 'id, name, team_slug', `1, 'a', 's1'`, `2, 'b', 's2'`, `3, 'c', 's1'`),
    insert('tags', 'id, name', `1, 'a'`, `2, 'b'`, `3, 'c'`),
    insert('postTags', 'post_id, tag_id', '1, 1', '1, 2', '2, 1', '3, 3'),
    insert('topics', 'id, name', `1, 'a'`, `2, 'b'`, `3, 'c'`),
    insert('postTopics', 'post_id, topic_id', '1, 1', '1, 2', '2, 1', '4, 2'),
    insert('labels', 'id, name', `1, 'a'`, `2, 'b'`, `3, 'c'`),
    insert('postLabels', 'post_id, label_id, name', `1, 1, 'a'`, `1, 2, 'b'`, `2, 1, 'c'`, `4, 3, 'd'`),
    insert('labelNotes', 'id, name, post_id, label_id', `1, 'a', 1, 1`, `2, 'b', 1, 2`, `3, 'c', 4, 3`),
    insert('groups', 'id, name', `1, 'a'`, `2, 'b'`, `3, 'c'`),
    insert('memberships', 'person_id, group_id, name', `1, 1, 'a'`, `1, 2, 'b'`, `2, 1, 'c'`),
    insert('perks', 'id, name, person_id, group_id', `1, 'a', 1, 1`, `2, 'b', 1, 1`, `3, 'c', 2, 1`),
  ].join('; ')
}
