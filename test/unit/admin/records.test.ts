/** How the admin names records, chooses columns and widgets, and groups the trash. */
import { describe, expect, it } from 'vitest'
import { defaultColumns, idOfRow, labelOf, nestedLists, titleField } from '../../../src/runtime/admin/model/records'
import { toRelative } from '../../../src/runtime/admin/model/time'
import { toGroups } from '../../../src/runtime/admin/views/trash/trash'
import { widgetOf } from '../../../src/runtime/admin/model/widgets'
import { resource, text } from './described'

const posts = resource({
  id: { kind: 'integer', primaryKey: true },
  slug: text(),
  title: text(),
  body: text({ metadata: { widget: 'textarea' } }),
  status: text({ enum: ['draft'] }),
  authorId: { kind: 'integer', references: { resource: 'users', field: 'id', relation: 'author' } },
  details: { kind: 'json' },
  createdAt: { kind: 'date', role: 'createdAt' },
  deletedAt: { kind: 'date', role: 'deletedAt' },
  deletionId: { kind: 'text', role: 'deletionId' },
})

describe('the name of a record', () => {
  it('is its title, or its resource with its id', () => {
    expect(titleField(posts)).toBe('title')
    expect(labelOf(posts, { id: 1, title: ' Harbour ' })).toBe('Harbour')
    expect(labelOf(posts, { id: 1, title: '' })).toBe('Posts 1')
    expect(labelOf(posts, { id: 1, title: 'x'.repeat(80) })).toHaveLength(60)
  })

  it('is never a field that the caller cannot read, or a value of an enum', () => {
    expect(titleField(resource({ title: text({ readable: false }), kind: text({ enum: ['a'] }), note: text() }))).toBe('note')
    expect(titleField(resource({ id: { kind: 'integer', primaryKey: true } }))).toBeUndefined()
  })

  it('has an id as the API addresses it', () => {
    const pair = resource({ region: text({ primaryKey: true }), number: { kind: 'integer', primaryKey: true } })
    expect(idOfRow(pair, { region: 'a,b', number: 2 })).toBe('a%2Cb,2')
    expect(idOfRow(pair, { region: 'a' })).toBeUndefined()
    expect(idOfRow(resource({ name: text() }), { name: 'x' })).toBeUndefined()
  })
})

describe('the columns of a list', () => {
  it('are those of the options, or the title and those that say most', () => {
    expect(defaultColumns(posts, ['status', 'nothing'])).toEqual(['status'])
    expect(defaultColumns(posts)).toEqual(['title', 'status', 'authorId', 'slug', 'createdAt'])
  })
})

describe('the children in the form of a record', () => {
  const relation = (nested?: readonly ('create' | 'update' | 'delete')[], includable = true) =>
    ({ label: 'Lines', kind: 'many', target: 'lines', includable, filterable: true, countable: true, ...nested && { nested } }) as const
  const namesOf = (isNew: boolean, isKnown = true) => nestedLists(resource({}, {
    relations: { lines: relation(['create', 'delete']), old: relation(['delete']), others: relation(), secret: relation(['create'], false) },
  }), isNew, () => isKnown).map(({ relation }) => relation)

  it('are those that a body can contain and the caller can read', () => {
    expect(namesOf(false)).toEqual(['lines', 'old'])
    expect(namesOf(false, false)).toEqual([])
  })

  it('are those that can be created, for a new record', () => {
    expect(namesOf(true)).toEqual(['lines'])
  })
})

describe('a lazy field', () => {
  const lazy = { lazy: true, writable: { create: false, update: false } } as const

  it('neither names a record nor is a column unless it is chosen', () => {
    const pages = resource({ title: text(lazy), note: text(), size: { kind: 'integer', ...lazy } })
    expect(titleField(pages)).toBe('note')
    expect(defaultColumns(pages)).toEqual(['note'])
    expect(defaultColumns(pages, ['size', 'note'])).toEqual(['size', 'note'])
    expect(defaultColumns(resource({ title: text(lazy), details: { kind: 'json' } }))).toEqual(['details'])
  })
})

describe('the widget of a field', () => {
  const validation = {
    properties: {
      short: { type: 'string', maxLength: 80 },
      body: { type: 'string' },
      mail: { anyOf: [{ type: 'string', format: 'email' }, { type: 'null' }] },
    },
  }
  it.each([
    ['short', text(), 'text'],
    ['body', text(), 'textarea'],
    ['mail', text(), 'email'],
    ['status', text({ enum: ['a'] }), 'select'],
    ['authorId', posts.fields.authorId!, 'relation'],
    ['big', { kind: 'bigint' as const }, 'digits'],
    ['flag', { kind: 'boolean' as const }, 'switch'],
    ['at', { kind: 'date' as const }, 'datetime'],
    ['data', { kind: 'json' as const }, 'json'],
  ])('fits its kind and its rules: %s', (name, field, expected) => {
    const { fields } = resource({ [name]: field })
    expect(widgetOf(name, fields[name]!, undefined, validation)).toBe(expected)
    expect(widgetOf(name, fields[name]!, { widget: 'color' }, validation)).toBe('color')
  })
})

describe('the trash', () => {
  it('groups the records of one deletion, and restores a single record by its id', () => {
    const row = (id: number, deletionId: string | null) => ({ id, title: `Post ${id}`, deletionId, deletedAt: '2026-01-01' })
    const groups = toGroups(posts, [row(1, 'a'), row(2, 'b'), row(3, 'a'), row(4, null)])
    expect(groups.map(({ label, others, target }) => ({ label, others, target }))).toEqual([
      { label: 'Post 1', others: ['Post 3'], target: { deletionId: 'a' } },
      { label: 'Post 2', others: [], target: 2 },
      { label: 'Post 4', others: [], target: 4 },
    ])
  })
})

describe('values', () => {
  it.each([
    [0, 'now'],
    [180_000, '3 minutes ago'],
    [3 * 86_400_000, '3 days ago'],
    [-86_400_000, 'tomorrow'],
  ])('show a date %i ms ago as %s', (ms, expected) => {
    expect(toRelative(new Date(1e12 - ms).toISOString(), 1e12)).toBe(expected)
  })
})
