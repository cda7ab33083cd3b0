/** The columns that the server sets: found by name, ignored in bodies, absent from the generated schemas. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { describe, expect, it } from 'vitest'
import { DIALECTS, resourceOf, resourcesOf, sqlite, tenancy, type Resource } from '../../../support/tables'

const rolesOf = ({ roles }: Resource) => Object.fromEntries(Object.entries(roles).map(([role, field]) => [role, field!.name]))
const writable = ({ writable }: Resource) => ({ create: [...writable.create], update: [...writable.update] })

describe.each(DIALECTS)('the server\'s columns of a $dialect-core table', ({ tables }) => {
  it('are found by their names', () => {
    expect(rolesOf(resourceOf(tables.posts))).toEqual({
      deletedAt: 'deletedAt', deletedBy: 'deletedBy', deletionId: 'deletionId', deletedReason: 'deletedReason',
      createdAt: 'createdAt', updatedAt: 'updatedAt', createdBy: 'createdBy', updatedBy: 'updatedBy',
    })
  })

  it('enable soft delete only with a nullable deletedAt, which the other trash columns require', () => {
    expect(rolesOf(resourceOf(tables.comments))).toEqual({})
  })

  it('cannot be written by a client: trash, audit and tenant columns, generated keys, and createdAt on update', () => {
    expect(writable(resourceOf(tables.posts, tenancy()))).toEqual({
      create: ['authorId', 'title', 'status', 'score', 'createdAt'],
      update: ['authorId', 'title', 'status', 'score'],
    })
  })

  it('exclude the tenant column of a resource without tenants', () => {
    expect(resourceOf(tables.posts).writable.create).toContain('organizationId')
    expect(resourceOf(tables.posts, tenancy({ enabled: false })).writable.create).toContain('organizationId')
    expect(resourceOf(tables.posts, tenancy({ excludedResources: ['it'] })).writable.create).toContain('organizationId')
  })

  it('include the protectedFields, on create and update', () => {
    const { create, update } = writable(resourceOf({ schema: tables.posts, protectedFields: ['score', 'status'] }, tenancy()))
    expect(create).toEqual(['authorId', 'title', 'createdAt'])
    expect(update).toEqual(['authorId', 'title'])
  })

  it.each([
    ['devices', { create: ['uuid', 'name'], update: ['name'] }],
    ['employees', { create: ['code', 'reportsTo'], update: ['reportsTo'] }],
    ['seats', { create: ['room', 'number', 'label'], update: ['label'] }],
    ['tickets', { create: ['name'], update: ['name'] }],
    ['organizations', { create: ['name'], update: ['name'] }],
  ] as const)('include a key on create only when the database generates it, and every key on update: %s', (name, expected) => {
    expect(writable(resourceOf(tables[name]))).toEqual(expected)
  })

  it('include columns that the database computes', () => {
    const { create, update } = writable(resourceOf(tables.kinds))
    expect([...create, ...update]).not.toContain('doubled')
  })

  it('are ignored when a client sends them back', () => {
    const { fields, writable, dropped } = resourceOf(tables.posts, tenancy())
    for (const kind of ['create', 'update'] as const) {
      expect([...writable[kind], ...dropped[kind]].sort()).toEqual([...fields.keys()].sort())
    }
  })

  it('are not in the generated schemas', () => {
    const { schemas, writable, fields } = resourceOf(tables.posts, tenancy())
    for (const kind of ['create', 'update'] as const) {
      expect([...fields.keys()].filter(name => schemas[kind].hasKey(name))).toEqual([...writable[kind]])
    }
  })

  it('are never required: a create requires the other required columns without createdAt, an update none', async () => {
    const { schemas } = resourceOf(tables.posts, tenancy())
    const validate = async (kind: 'create' | 'update', value: object) =>
      (await schemas[kind].standard['~standard'].validate(value)).issues?.map(({ path }) => path?.join('.'))
    expect(await validate('create', {})).toEqual(['title'])
    expect(await validate('create', { title: 'a' })).toBeUndefined()
    expect(await validate('create', { title: 'a', createdAt: new Date(), status: 'lost' })).toEqual(['status'])
    expect(await validate('create', { title: 'a', createdAt: null })).toEqual(['createdAt'])
    expect(await validate('update', {})).toBeUndefined()
    expect(await validate('update', { title: null })).toEqual(['title'])
    expect(await validate('update', { authorId: null })).toBeUndefined()
  })
})

describe('the tenant column', () => {
  const { posts, tags } = sqlite

  it('is the configured property', () => {
    const rooms = sqliteTable('rooms', { id: integer().primaryKey(), building: text() })
    expect(resourceOf(rooms, tenancy({ tenantIdField: 'building' })).tenant?.name).toBe('building')
    expect(resourceOf(rooms, tenancy()).tenant).toBeUndefined()
  })

  it('applies to every resource that has it, or to the listed resources', () => {
    const scoped = (options: Parameters<typeof tenancy>[0]) =>
      [...resourcesOf({ posts, drafts: posts, tags }, { config: tenancy(options) }).values()]
        .filter(({ tenant }) => tenant)
        .map(({ name }) => name)
    expect(scoped({ scopedResources: '*' })).toEqual(['posts', 'drafts'])
    expect(scoped({ scopedResources: ['drafts'] })).toEqual(['drafts'])
    expect(scoped({ scopedResources: '*', excludedResources: ['posts'] })).toEqual(['drafts'])
  })

  it('must exist in a listed resource, or startup fails', () => {
    expect(() => resourcesOf({ tags }, { config: tenancy({ scopedResources: ['tags'] }) })).toThrow(
      /`tags`.*"tags" has no column `organizationId`/,
    )
  })

  it.each(['scopedResources', 'excludedResources'] as const)('fails at startup for a resource that is not registered: %s', (option) => {
    expect(() => resourcesOf({ posts }, { config: tenancy({ [option]: ['post'] }) })).toThrow(`\`multiTenancy.${option}\` lists \`post\``)
  })
})

describe('a list of fields in a registration', () => {
  it.each([
    ['hiddenFields', { hiddenFields: ['password'] }, 'password'],
    ['protectedFields', { protectedFields: ['rank'] }, 'rank'],
    ['authorization.fields', { authorization: { fields: { salary: { read: false } } } }, 'salary'],
  ])('fails at startup when it names an unknown column, which would protect nothing: %s', (key, options, name) => {
    expect(() => resourceOf({ schema: sqlite.posts, ...options })).toThrow(`\`it.${key}\` names \`${name}\``)
  })
})
