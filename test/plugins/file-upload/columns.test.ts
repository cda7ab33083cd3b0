/** The columns that can contain files: the message for each column that cannot, when the server starts. */
import { describe, expect, it } from 'vitest'
import { assertColumns } from '../../../src/runtime/plugins/file-upload/server/columns'
import type { FileField } from '../../../src/runtime/plugins/file-upload/options'
import type { PluginServer } from '../../../src/runtime/server/plugin/server'

const COLUMN = { kind: 'json', column: {}, nullable: true, writable: false }

interface Place {
  readonly resource?: string
  readonly field?: string
  readonly tenant?: string
}

function assert(column: object, { resource = 'posts', field = 'cover', tenant }: Place = {}): void {
  const posts = { primaryKey: ['id'], tenant, fields: new Map([['id', COLUMN], ['cover', { ...COLUMN, ...column }]]) }
  assertColumns([{ resource, field } as FileField], { resources: new Map([['posts', posts]]) } as unknown as PluginServer)
}

describe('a file column', () => {
  it.each<[string, object]>([
    ['a JSON column', {}], ['a text column', { kind: 'text' }],
    ['a text column of 1500 characters', { kind: 'text', column: { length: 1500 } }],
    ['a JSON column with any length', { column: { length: 10 } }],
    ['a text column whose length is not known', { kind: 'text', column: { length: undefined } }],
  ])('can be %s', (_case, column) => expect(() => assert(column)).not.toThrow())

  it.each<[string, object, Place, string]>([
    ['of a resource that does not exist', {}, { resource: 'post' }, '`post` is not a registered resource. Did you mean `posts`?'],
    ['that does not exist', {}, { field: 'covers' }, '`posts.covers` is not a column. Did you mean `cover`?'],
    ['that is a key', {}, { field: 'id' }, '`posts.id` identifies rows or tenants. Use a column of its own.'],
    ['that contains the tenant', {}, { tenant: 'cover' }, '`posts.cover` identifies rows or tenants. Use a column of its own.'],
    ['of numbers', { kind: 'integer' }, {}, '`posts.cover` is neither a JSON nor a text column.'],
    ['that cannot be NULL', { nullable: false }, {}, '`posts.cover` cannot be NULL, but a new record has no file yet. Remove `notNull()`.'],
    ['of short text', { kind: 'text', column: { length: 1499 } }, {},
      '`posts.cover` has a maximum length of 1499. Use a column for JSON, or text of at least 1500 characters.'],
    ['that clients can write', { writable: true }, {},
      '`posts.cover` can be written by clients. List the plugin in `autoApi.plugins` of nuxt.config, '
      + 'or add the column to `protectedFields`.'],
  ])('cannot be one %s', (_case, column, options, problem) => {
    expect(() => assert(column, options)).toThrow(new Error(`[auto-api] fileUpload: ${problem}`))
  })
})
