/** The columns of a list: fields, and numbers of related records. */
import { describe, expect, it } from 'vitest'
import { columnsOf, countedBy, firstColumns, withCounts } from '../../../src/runtime/admin/model/columns'
import { labelOfField } from '../../../src/runtime/admin/model/records'
import { includeNames, pointingHere } from '../../../src/runtime/admin/model/related'
import type { DescribedRelation } from '../../../src/runtime/shared/types/description'
import { resource, text } from './described'

const relation = (label: string, more: Partial<DescribedRelation> = {}): DescribedRelation =>
  ({ label, kind: 'many', target: 'comments', includable: true, filterable: true, countable: true, ...more })

const posts = resource({ id: { kind: 'integer', primaryKey: true }, title: text(), secret: text({ readable: false }) }, {
  relations: {
    comments: relation('Comments'),
    tags: relation('Tags', { kind: 'manyToMany' }),
    author: relation('Author', { kind: 'one', countable: false }),
    vaults: relation('Vaults', { filterable: false, countable: false }),
  },
})

describe('the columns of a list', () => {
  it('are the readable fields, and a number for each relation that can be counted', () => {
    const columns = columnsOf(posts)
    expect(Object.keys(columns).sort()).toEqual(['comments.$count', 'id', 'tags.$count', 'title'])
    expect(columns['comments.$count']).toMatchObject({ kind: 'integer', sortable: true, readable: true, operators: [] })
    expect(Object.keys(columns).map(name => countedBy(posts, name))).toEqual(['comments', 'tags', undefined, undefined])
  })

  it('show a number only if it is chosen', () => {
    expect(firstColumns(posts)).toEqual(['title'])
    expect(firstColumns(posts, ['comments.$count', 'title', 'author.$count', 'vaults.$count', 'secret'])).toEqual(['comments.$count', 'title'])
  })

  it('have the label of the relation above a number', () => {
    expect(['comments.$count', 'title', 'nobody.$count'].map(name => labelOfField(posts, name))).toEqual(['Comments', 'title', 'nobody.$count'])
  })

  it('find a number in the record', () => {
    const row = { id: 1, _count: { comments: 3, tags: 0 } }
    expect(withCounts(row)).toEqual({ ...row, 'comments.$count': 3, 'tags.$count': 0 })
    const plain = { id: 1 }
    expect(withCounts(plain)).toBe(plain)
  })

  it('leave a name to the field that has it', () => {
    const odd = resource({ 'comments.$count': text() }, { relations: posts.relations })
    expect(columnsOf(odd)['comments.$count']).toMatchObject({ kind: 'text' })
    expect(countedBy(odd, 'comments.$count')).toBeUndefined()
    expect(withCounts({ 'comments.$count': 'x', '_count': { comments: 3 } })['comments.$count']).toBe('x')
  })
})

describe('the list of the records that point to a record', () => {
  const key = (to: string, field = 'id') => ({ kind: 'integer', operators: ['$eq'], references: { resource: to, field } }) as const

  it('is filtered by the column that points there', () => {
    expect(pointingHere(resource({ id: {}, postId: key('posts') }), 'posts', posts, 7)).toBe('filter=postId%3A%24eq%3A7')
  })

  it.each([
    ['no column points there', { id: {}, userId: key('users') }],
    ['two columns point there', { postId: key('posts'), originalId: key('posts') }],
    ['the column points to something else than the key', { postSlug: key('posts', 'slug') }],
    ['the column cannot be compared', { postId: { ...key('posts'), operators: [] } }],
  ])('does not exist if %s', (_what, fields) => {
    expect(pointingHere(resource(fields), 'posts', posts, 7)).toBeUndefined()
  })
})

describe('the names of the records that columns point to', () => {
  const users = resource({ id: { kind: 'integer', primaryKey: true }, name: text() }, { label: 'Users' })
  const to = (target: string, relation?: string) =>
    resource({ a: { references: { resource: target, field: 'id', ...relation !== undefined && { relation } } } }).fields.a!
  const schema = (maxIncludes: number) => ({
    find: (name: string) => name === 'users' ? users : undefined,
    limits: { value: { include: { maxIncludes } } },
    suspense: () => Promise.resolve(),
  }) as unknown as Parameters<typeof includeNames>[1]

  it('are included, without what the caller cannot read, and up to the limit', () => {
    const columns = [to('users', 'author'), to('users'), to('vaults', 'vault'), to('users', 'editor')]
    const names = { fields: ['id', 'name'] }
    expect(includeNames(columns, schema(5))).toEqual({ author: names, editor: names })
    expect(includeNames(columns, schema(1))).toEqual({ author: names })
    expect(includeNames(columns, schema(0))).toEqual({})
  })
})
