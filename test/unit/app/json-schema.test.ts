/** The check of bodies in the browser: it never refuses what the server accepts, and finds what JSON Schema describes. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z, type ZodType } from 'zod'
import { findIssues } from '../../../src/runtime/app/form/json-schema'
import type { JsonSchema } from '../../../src/runtime/shared/types/description'

const toSchema = (schema: ZodType) => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema

interface Tree { name: string, children?: Tree[] | undefined }
const tree: ZodType<Tree> = z.object({ name: z.string().min(1), get children() {
  return z.array(tree).optional()
} })

/** Every kind of schema that a registration is likely to have, and values that it refuses. */
const SCHEMAS: readonly { readonly name: string, readonly schema: ZodType, readonly wrong: readonly unknown[] }[] = [
  { name: 'text', schema: z.string().min(2).max(4), wrong: ['a', 'abcde', 1, null, undefined] },
  { name: 'pattern', schema: z.string().regex(/^[a-z]+$/), wrong: ['A', ''] },
  { name: 'email', schema: z.email(), wrong: ['ann', 'ann@', 'a b@c.de'] },
  { name: 'url', schema: z.url(), wrong: ['nowhere'] },
  { name: 'uuid', schema: z.uuid(), wrong: ['123'] },
  { name: 'date and time', schema: z.iso.datetime(), wrong: ['tomorrow', '2020-13-01T00:00:00Z'] },
  { name: 'date', schema: z.iso.date(), wrong: ['2020-1-1', 'x'] },
  { name: 'number', schema: z.number().min(1).lt(5), wrong: [0, 5, '3', Number.NaN] },
  { name: 'steps', schema: z.number().multipleOf(0.1), wrong: [0.25] },
  { name: 'integer', schema: z.int().positive(), wrong: [0, 1.5] },
  { name: 'enum', schema: z.enum(['a', 'b']), wrong: ['c', '', null] },
  { name: 'literal', schema: z.literal([1, 'x', null]), wrong: [2, 'y'] },
  { name: 'nullable', schema: z.string().max(3).nullable(), wrong: ['abcd', 1] },
  { name: 'optional', schema: z.object({ a: z.string().optional() }), wrong: [{ a: 1 }, []] },
  { name: 'list', schema: z.array(z.int()).min(1).max(2), wrong: [[], [1, 2, 3], ['a'], {}] },
  {
    name: 'tuple',
    schema: z.tuple([z.string(), z.int()]),
    wrong: [
      ['a', 'b'],
      [1, 1],
    ],
  },
  { name: 'union', schema: z.union([z.string(), z.object({ id: z.int() })]), wrong: [1, { id: 'x' }] },
  {
    name: 'discriminated union',
    schema: z.discriminatedUnion('kind', [z.object({ kind: z.literal('a'), a: z.int() }), z.object({ kind: z.literal('b') })]),
    wrong: [{ kind: 'c' }, { kind: 'a' }],
  },
  { name: 'intersection', schema: z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() })), wrong: [{ a: 'x' }] },
  {
    name: 'recursion',
    schema: tree,
    wrong: [
      { name: 'a', children: [{ name: '' }] },
      { name: 'a', children: [{ name: 'b', children: [1] }] },
    ],
  },
  { name: 'record', schema: z.record(z.string(), z.int()), wrong: [1] },
  { name: 'boolean', schema: z.boolean(), wrong: ['true', 1] },
  {
    name: 'custom code',
    schema: z
      .string()
      .refine(() => true)
      .transform(Number),
    wrong: [1],
  },
  { name: 'coerced date', schema: z.coerce.date(), wrong: [] },
  { name: 'anything', schema: z.unknown(), wrong: [] },
]

describe.each(SCHEMAS)('a schema: $name', ({ schema, wrong }) => {
  it('refuses wrong values', () => {
    for (const value of wrong) expect([value, findIssues(toSchema(schema), value).length > 0]).toEqual([value, true])
  })

  it('accepts every value that the server accepts', () => {
    const values = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.constantFrom(
        'abc',
        'a@b.de',
        'http://a.de',
        '2020-01-02',
        '2020-01-02T03:04:05Z',
        0.3,
        2,
        'x',
        { kind: 'b' },
        { a: 'x', b: 'y' },
        { name: 'n', children: [{ name: 'm' }] },
        ['a', 1],
        { id: 1 },
        '😀😀',
      ),
      fc.string(),
    )
    fc.assert(fc.property(values, (value) => {
      if (schema.safeParse(value).success) expect(findIssues(toSchema(schema), value)).toEqual([])
    }), { numRuns: 150 })
  })
})

describe('an issue', () => {
  it('has a path, the keyword, its limit and a sentence', () => {
    const schema = toSchema(z.object({ author: z.object({ email: z.email() }), tags: z.array(z.string().max(1)) }))
    expect(findIssues(schema, { author: { email: 'x' }, tags: ['a', 'bb'] })).toEqual([
      { path: ['author', 'email'], keyword: 'format', limit: 'email', value: 'x', message: 'Not a valid email address' },
      { path: ['tags', 1], keyword: 'maxLength', limit: 1, value: 'bb', message: 'At most 1 character' },
    ])
  })

  it.each([
    [z.string().min(3), 'ab', 'At least 3 characters'],
    [z.string().nullable(), 1, 'Expected text'],
    [z.int().min(3), 2, 'At least 3'],
    [z.number().gt(3), 3, 'More than 3'],
    [z.array(z.string()).min(1), [], 'At least 1 entry'],
    [z.literal('x'), 'y', 'Expected x'],
    [z.enum(['a', 'b']), null, 'Required'],
    [z.union([z.string().max(1), z.null()]), 'ab', 'At most 1 character'],
  ])('says what is expected', (schema, value, message) => {
    expect(findIssues(toSchema(schema), value).map(issue => issue.message)).toEqual([message])
  })

  it('is found once for a value with several problems', () => {
    expect(findIssues({ type: 'string', minLength: 9, pattern: '^x', format: 'email' }, 'a')).toHaveLength(1)
  })
})

describe('a schema that the browser cannot read', () => {
  it.each<{ readonly schema: JsonSchema }>(
    [
      { type: 'nothing-known' },
      { pattern: '(' },
      { format: 'unknown' },
      { $ref: 'https://example.test/schema' },
      { $ref: '#/$defs/missing' },
      { $ref: '#' },
      { allOf: [{ $ref: '#' }] },
      { items: true },
      { properties: { a: {} } },
      { newKeyword: 1 },
    ].map(schema => ({ schema })),
  )('accepts the value: $schema', ({ schema }) => {
    for (const value of ['text', ['a'], { a: 1 }]) expect(findIssues(schema, value)).toEqual([])
  })
})
