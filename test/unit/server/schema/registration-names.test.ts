/** Unknown names in a registration fail at startup, with the file and a suggestion. */
import { describe, expect, it } from 'vitest'
import type { ResourceRegistration } from '../../../../src/runtime/server/registration'
import { resourceOf, sqlite } from '../../../support/tables'

const FROM = {
  schema: 'server/schema.ts, export `posts`',
  authorization: 'server/auth.ts, export `postsAuth`',
  hooks: 'server/hooks.ts, default export',
  validation: 'server/validation.ts, default export',
}
const start = (parts: object) => resourceOf({ schema: sqlite.posts, ...parts } as Omit<ResourceRegistration, 'name'>)

describe('an unknown name in a registration fails at startup', () => {
  it.each([
    [
      'an operation',
      { authorization: { permissions: { reed: true } } },
      '`it.authorization.permissions.reed` is not an operation (server/auth.ts, export `postsAuth`). Did you mean `read`?',
    ],
    [
      'an operation of a named gate',
      { authorization: { custom: { publish: { permissions: { updat: true } } } } },
      '`it.authorization.custom.publish.permissions.updat` is not an operation (server/auth.ts, export `postsAuth`). Did you mean `update`?',
    ],
    [
      'a property of a named gate',
      { authorization: { custom: { publish: { update: true } } } },
      '`it.authorization.custom.publish.update` is not a property of a named gate',
    ],
    [
      'a property of an authorization',
      { authorization: { listFiter: () => undefined } },
      '`it.authorization.listFiter` is not a property of an authorization (server/auth.ts, export `postsAuth`). Did you mean `listFilter`?',
    ],
    [
      'a rule of a field',
      { authorization: { fields: { title: { raed: false } } } },
      '`it.authorization.fields.title.raed` is not a rule of a field',
    ],
    [
      'an option of softDelete',
      { authorization: { softDelete: { retentionDay: 3 } } },
      '`it.authorization.softDelete.retentionDay` is not an option of `softDelete` (server/auth.ts, export `postsAuth`). Did you mean `retentionDays`?',
    ],
    [
      'a field with a rule',
      { authorization: { fields: { titl: { read: false } } } },
      '`it.authorization.fields` names `titl`, which is not a column of table "posts" (server/schema.ts, export `posts`). Did you mean `title`?',
    ],
    [
      'a hidden field',
      { hiddenFields: ['titl'] },
      '`it.hiddenFields` names `titl`, which is not a column of table "posts" (server/schema.ts, export `posts`). Did you mean `title`?',
    ],
    ['a protected field', { protectedFields: ['titl'] }, '`it.protectedFields` names `titl`'],
    [
      'a hook',
      { hooks: { beforeCreat: () => undefined } },
      '`it.hooks.beforeCreat` is not a hook (server/hooks.ts, default export). Did you mean `beforeCreate`?',
    ],
    [
      'a body',
      { validation: { creat: {} } },
      '`it.validation.creat` is not a body (server/validation.ts, default export). Did you mean `create`?',
    ],
    [
      'a field with metadata',
      { metadata: { fields: { titl: { label: 'Title' } } } },
      '`it.metadata.fields` names `titl`, which is not a column of table "posts" (server/schema.ts, export `posts`). Did you mean `title`?',
    ],
  ])('%s', (_, parts, message) => {
    const needed = Object.fromEntries(Object.entries(FROM).filter(([key]) => key === 'schema' || key in parts))
    expect(() => start({ ...parts, from: needed })).toThrow(message)
  })

  it('also in `hiddenFields` of the module options, where it would leave the field readable', () => {
    const config = { hiddenFields: { global: [], resources: { it: ['titl'] } } }
    expect(() => resourceOf(sqlite.posts, config)).toThrow(
      '`autoApi.hiddenFields.resources.it` names `titl`, which is not a column of table "posts". Did you mean `title`?',
    )
  })

  it('with a message that lists the valid names when none is similar', () => {
    expect(() => start({ authorization: { permissions: { publish: true } } })).toThrow(
      'is not an operation. It can be `read`, `create`, `update`, `delete`, `aggregate`, `restore`, `purge`, `viewDeleted`.',
    )
  })
})

describe('metadata that the server cannot read fails at startup', () => {
  it.each([
    [{ label: 1 }, '`it.metadata.label` is not text.'],
    [{ fields: ['title'] }, '`it.metadata.fields` is not an object.'],
    [{ fields: null }, '`it.metadata.fields` is not an object.'],
    [{ fields: { title: 'Title' } }, '`it.metadata.fields.title` is not an object.'],
    [{ fields: { title: { label: ['Title'] } } }, '`it.metadata.fields.title.label` is not text.'],
  ])('%j', (metadata, message) => {
    expect(() => start({ metadata })).toThrow(message)
  })
})

describe('an export without a valid value fails at startup', () => {
  it.each(['authorization', 'validation', 'hooks'] as const)('when it is undefined: %s', (key) => {
    expect(() => start({ [key]: undefined, from: { [key]: FROM[key] } })).toThrow(`\`it.${key}\` (${FROM[key]}) is undefined.`)
  })

  it('when the schema is not a table', () => {
    expect(() => resourceOf({ schema: {} as never, from: FROM })).toThrow(
      '`it.schema` (server/schema.ts, export `posts`) is not a Drizzle table',
    )
  })
})
