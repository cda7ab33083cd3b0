import { expect, it } from 'vitest'
import { duplicateValues } from '../../../src/runtime/admin/model/duplicate'
import { resource, text } from './described'

it('a copy has the values that a person can enter, and leaves the rest to the server', () => {
  const described = resource({
    id: { kind: 'integer', primaryKey: true, hasDefault: true },
    title: text(),
    slug: text(),
    status: text({ enum: ['draft', 'published'] }),
    featured: { kind: 'boolean' },
    views: { kind: 'integer', writable: { create: false, update: true } },
    note: text({ nullable: true }),
    cover: { kind: 'json' },
    raw: { kind: 'blob' },
    createdBy: { kind: 'integer', role: 'createdBy' },
  })
  const row = {
    id: 7, title: 'Harbour', slug: 'harbour', status: 'published', featured: false, views: 12, note: null, cover: { key: 'a.png' }, raw: 'AA==',
    createdBy: 3, unknown: 1,
  }
  expect(duplicateValues(described, row, ['cover'])).toEqual({ title: 'Harbour', slug: 'harbour', status: 'published', featured: false })
})

it('a copy has the key, if a person chooses it', () => {
  const described = resource({ code: text({ primaryKey: true }), name: text() })
  expect(duplicateValues(described, { code: 'de', name: 'Germany' }, [])).toEqual({ code: 'de', name: 'Germany' })
})
