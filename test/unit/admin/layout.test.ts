import { describe, expect, it } from 'vitest'
import { splitFields } from '../../../src/runtime/admin/model/layout'
import type { AdminField } from '../../../src/runtime/shared/types/admin'
import { resource, text } from './described'

const { fields } = resource({
  id: { kind: 'integer', primaryKey: true },
  title: text(),
  body: text(),
  status: text({ enum: ['draft', 'published'] }),
  featured: { kind: 'boolean' },
  views: { kind: 'integer' },
  publishedAt: { kind: 'date' },
  authorId: { kind: 'integer', references: { resource: 'users', field: 'id', relation: 'author' } },
  details: { kind: 'json' },
  createdAt: { kind: 'date', role: 'createdAt' },
  createdBy: { kind: 'text', role: 'createdBy' },
})
const split = (names: readonly string[], options: Readonly<Record<string, AdminField>> = {}) =>
  splitFields(names, fields, name => options[name])

describe('the layout of a record', () => {
  it('has what a person writes as content, and what is chosen or set beside it', () => {
    expect(split(Object.keys(fields))).toEqual({
      content: ['title', 'body', 'details'],
      facts: ['id', 'status', 'featured', 'views', 'publishedAt', 'authorId', 'createdAt', 'createdBy'],
    })
  })

  it('keeps the order of the names', () => {
    expect(split(['body', 'views', 'title', 'status'])).toEqual({ content: ['body', 'title'], facts: ['views', 'status'] })
  })

  it('has everything as content, if there is nothing to write', () => {
    expect(split(['status', 'views'])).toEqual({ content: ['status', 'views'], facts: [] })
  })

  it('follows the widgets of the options', () => {
    const options = { title: { widget: 'select' }, body: { widget: 'markdown' }, views: { chunk: { script: 'a.js', styles: [] } } } as const
    expect(split(['title', 'body', 'views'], options)).toEqual({ content: ['body', 'views'], facts: ['title'] })
  })
})
