/** `useAutoApiColumns` against the API in memory: the columns that the caller can read, and their order in requests. */
import { sql as expression } from 'drizzle-orm'
import { blob, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ref } from 'vue'
import { computed } from '../../../src/runtime/server/computed'
import type { ResourceRegistration } from '../../../src/runtime/server/registration'
import { openClientServer, type ClientServer } from '../../support/client-server'

const books = sqliteTable('books', {
  id: integer('id').primaryKey(),
  title: text('title').notNull(),
  soldAt: integer('sold_at', { mode: 'timestamp_ms' }),
  cover: blob('cover', { mode: 'buffer' }),
  margin: integer('margin'),
  secret: text('secret'),
})
const further = [{
  name: 'books', schema: books, computed: { shout: computed.text(expression`upper(title)`, { lazy: true }) }, hiddenFields: ['secret'], metadata: { fields: { title: { label: 'Name' } } },
  authorization: { permissions: { read: true, update: true }, fields: { margin: { read: 'chief' } } },
}] as ResourceRegistration[]
const sql = `
  create table books (id integer primary key, title text not null, sold_at integer, cover blob, margin integer, secret text);
  insert into books (title, margin) values ('B', 1), ('A', 2);
`

let harness: ClientServer

beforeEach(async () => {
  harness = await openClientServer({ further, sql })
})
afterEach(() => harness.close())

/** The resources of this test are not in the generated types. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- see above
type Loose = Record<string, (...args: any[]) => any>
const setup = <T>(run: (app: Loose) => T): T => harness.setup(() => run(harness.composables as unknown as Loose))

async function openColumns(options?: object) {
  const table = setup(app => app.useAutoApiColumns!('books', options))
  await table.suspense()
  return table
}
const namesOf = (table: { columns: { value: { id: string }[] } }) => table.columns.value.map(({ id }) => id)

describe('columns', () => {
  it('have a lazy field only if it is named', async () => {
    expect(namesOf(await openColumns())).not.toContain('shout')
    expect(namesOf(await openColumns({ fields: ['title', 'shout'] }))).toEqual(['title', 'shout'])
  })

  it('are the fields that the caller can read, with their labels and kinds', async () => {
    expect(setup(app => app.useAutoApiColumns!('books')).columns.value).toEqual([])
    const table = await openColumns()
    expect(namesOf(table)).toEqual(['id', 'title', 'soldAt', 'cover'])
    expect(table.columns.value[1]).toMatchObject({
      accessorKey: 'title',
      header: 'Name',
      enableSorting: true,
      field: { kind: 'text', nullable: false },
    })
    expect(table.columns.value[3]).toMatchObject({ enableSorting: false, field: { kind: 'blob' } })
    harness.caller = { user: { id: 1 }, permissions: ['chief'] }
    harness.queryClient.clear()
    expect(namesOf(await openColumns())).toEqual(['id', 'title', 'soldAt', 'cover', 'margin'])
  })

  it('are the chosen ones in their order, without those that the caller cannot read', async () => {
    const fields = ref(['soldAt', 'margin', 'toString', 'title'])
    const table = await openColumns({ fields })
    expect(namesOf(table)).toEqual(['soldAt', 'title'])
    expect(table.fields.value).toEqual(['id', 'soldAt', 'title'])
    fields.value = ['title']
    expect(namesOf(table)).toEqual(['title'])
  })

  it('share the description with a form of the resource', async () => {
    await openColumns()
    await setup(app => app.useAutoApiForm!('books', { id: 1 })).suspense()
    expect(harness.requests).toEqual(['GET /v1/_schema?resources=books', 'GET /v1/books/1'])
  })
})

describe('the order', () => {
  it('is the parameter of a list, and follows the table', async () => {
    const table = await openColumns({ sort: ['-title', 'id'] })
    expect(table.sorting.value).toEqual([{ id: 'title', desc: true }, { id: 'id', desc: false }])
    expect(table.sort.value).toEqual(['-title', 'id'])
    const list = setup(app => app.useAutoApiList!('books', () => ({ fields: ['title'], sort: table.sort.value })))
    await list.suspense()
    expect(list.data.value.data.map(({ title }: { title: string }) => title)).toEqual(['B', 'A'])
    table.sorting.value = [{ id: 'title', desc: false }]
    await expect.poll(() => list.data.value?.data.map(({ title }: { title: string }) => title)).toEqual(['A', 'B'])
  })

  it('leaves out fields that the caller cannot sort by', async () => {
    expect((await openColumns({ sort: ['margin', '-title'] })).sort.value).toEqual(['-title'])
    expect((await openColumns({ sort: '-cover' })).sort.value).toEqual([])
  })
})

describe('a column of a relation', () => {
  const open = async (options: object) => {
    const table = setup(app => app.useAutoApiColumns!('articles', options))
    await table.suspense()
    return table
  }

  it('has the labels of both, the parameters of a list, and an order', async () => {
    const table = await open({ fields: ['title', 'writer.name', 'writer.nothing', 'labels.name', 'nobody.name'], sort: '-writer.name' })
    expect(harness.requests).toEqual(['GET /v1/_schema?resources=articles,writers,labels'])
    expect(table.columns.value.map(({ id, accessorKey, header, enableSorting }: Record<string, unknown>) =>
      [id, accessorKey, header, enableSorting])).toEqual([['title', 'title', 'Title', true], ['writer.name', 'writer.name', 'Writer: Name', true]])
    expect([table.fields.value, table.include.value, table.sort.value]).toEqual([
      ['id', 'title'], { writer: { fields: ['name'] } }, ['-writer.name'],
    ])
    const query = () => ({ fields: table.fields.value, include: table.include.value, sort: table.sort.value })
    const list = setup(app => app.useAutoApiList!('articles', query))
    await list.suspense()
    expect(list.data.value.data.at(-1).writer).toEqual({ name: expect.any(String) })
  })

  it('shows the number of related records, with the parameters of a list', async () => {
    const fields = ['title', 'labels.$count', 'writer.$count', 'nobody.$count', 'title.$count', 'toString.$count']
    const table = await open({ fields, sort: '-labels.$count' })
    expect(harness.requests).toEqual(['GET /v1/_schema?resources=articles'])
    expect(table.columns.value[1]).toEqual({
      id: 'labels.$count', accessorKey: '_count.labels', header: 'Labels', enableSorting: true,
      field: expect.objectContaining({ label: 'Labels', kind: 'integer', nullable: false, sortable: true }),
    })
    expect([table.columns.value.length, table.fields.value, table.include.value, table.counts.value]).toEqual([
      2, ['id', 'title'], {}, ['labels'],
    ])
    const query = () => ({ fields: table.fields.value, counts: table.counts.value, sort: table.sort.value })
    const list = setup(app => app.useAutoApiList!('articles', query))
    await list.suspense()
    const numbers = list.data.value.data.map(({ _count }: { _count: { labels: number } }) => _count.labels)
    expect(numbers).toEqual([...numbers].sort((a, b) => b - a))
    expect(numbers[0]).toBeGreaterThan(0)
  })

  it('sorts by numbers of related records too', async () => {
    expect((await open({ fields: ['title'], sort: ['-labels.$count', 'writer.$count', 'title.$count'] })).sort.value).toEqual(['-labels.$count'])
  })
})
