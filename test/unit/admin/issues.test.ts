/** The sentences for records that the server refuses, from the messages of the installed version of Zod. */
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { format } from '../../../src/runtime/admin/model/format'

vi.mock('../../../src/runtime/admin/model/nuxt', () => ({ useAppConfig: () => ({}) }))
const { MESSAGES } = await import('../../../src/runtime/admin/model/messages')
const { toSentences } = await import('../../../src/runtime/admin/model/issues')

const t = (key: keyof typeof MESSAGES, values: Readonly<Record<string, string | number>> = {}) => format(MESSAGES[key], values)
const labelOf = (name: string) => ({ name: 'Name', slug: 'URL part' })[name] ?? name

const issuesOf = (schema: z.ZodType, value: unknown) =>
  schema.safeParse({ name: value }).error!.issues.map(({ path, message, code }) => ({ path: path as string[], message, code }))
const sentence = (schema: z.ZodType, value: unknown) =>
  toSentences({ message: 'Invalid', issues: issuesOf(z.object({ name: schema }), value) }, labelOf, t)

describe('the issues of a record', () => {
  it.each([
    [z.string(), undefined, 'A value is required.'],
    [z.string(), null, 'A value is required.'],
    [z.int(), 'many', 'This is not a number.'],
    [z.boolean(), 'perhaps', 'This is neither true nor false.'],
    [z.date(), 'soon', 'This is not a date.'],
    [z.string(), 7, 'This value has the wrong type.'],
    [z.string().min(1), '', 'At least 1 character is required.'],
    [z.string().min(3), 'a', 'At least 3 characters are required.'],
    [z.string().max(2), 'long', 'At most 2 characters are allowed.'],
    [z.number().min(-1.5), -2, 'The smallest allowed value is -1.5.'],
    [z.number().max(9), 10, 'The largest allowed value is 9.'],
    [z.enum(['draft', 'published']), 'gone', 'Use one of these values: draft, published.'],
    [z.string().regex(/^a/), 'b', 'This is not in the expected format.'],
    [z.string().refine(() => false, 'Choose a shorter name'), 'b', 'Choose a shorter name.'],
    [z.email('That is no address!'), 'b', 'That is no address!'],
  ])('are sentences: %#', (schema, value, text) => {
    expect(sentence(schema, value)).toBe(`Name: ${text}`)
  })

  it('name the field, and the place inside its value', () => {
    const issue = (path: (string | number)[]) => ({ path, message: 'Wrong', code: 'custom' })
    expect(toSentences({ message: 'Invalid', issues: [issue(['slug']), issue(['data', 2, 'x']), issue([])] }, labelOf, t))
      .toBe('URL part: Wrong. data › 2 › x: Wrong. Wrong.')
  })

  it('are the message of the record if there are none', () => {
    expect(toSentences({ message: 'There is no such record.' }, labelOf, t)).toBe('There is no such record.')
  })
})
