/** The options of file uploads: what each field results in, and the message for each wrong option. */
import { describe, expect, it } from 'vitest'
import { resolveFields, type FileUploadOptions } from '../../../src/runtime/plugins/file-upload/options'
import { FILE_TYPES } from '../../../src/runtime/plugins/file-upload/content/types'

const PNG = ['image/png']
const resolve = (field: unknown, name = 'cover') => resolveFields({ resources: { posts: { [name]: field } } } as FileUploadOptions)

describe('a field', () => {
  it('has defaults', () => {
    expect(resolve({ accept: PNG })).toEqual([{
      resource: 'posts', field: 'cover', accepted: [FILE_TYPES.find(({ type }) => type === 'image/png')], maxSize: 10 * 1024 * 1024,
      maxPixels: 50_000_000, multiple: false, maxFiles: 20,
    }])
  })

  it('has what its options say', () => {
    expect(resolve({ accept: PNG, maxSize: '5mb', maxPixels: 1, multiple: true, maxFiles: 3 }))
      .toMatchObject([{ maxSize: 5 * 1024 * 1024, maxPixels: 1, multiple: true, maxFiles: 3 }])
    expect(resolve({ accept: PNG, maxSize: 100 })).toMatchObject([{ maxSize: 100 }])
  })

  it('accepts each type once', () => {
    const [field] = resolve({ accept: ['image/png', 'image/*', 'image/jpg', 'image/svg+xml'] })
    expect(field!.accepted.map(({ type }) => type)).toEqual([
      'image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/heic', 'image/bmp', 'image/svg+xml',
    ])
  })

  it('can be one of several, in several resources', () => {
    const fields = resolveFields({ resources: { posts: { cover: { accept: PNG }, files_2: { accept: PNG } },
      notes: { scan: { accept: PNG } } } })
    expect(fields.map(({ resource, field }) => `${resource}.${field}`)).toEqual(['posts.cover', 'posts.files_2', 'notes.scan'])
  })

  it.each(['a/b', '../a', 'a-b', 'a b', '', 'ä', 'a.b', ':id', 'a\n'])('cannot have the name %j', (name) => {
    expect(() => resolve({ accept: PNG }, name)).toThrow(
      new TypeError(`[auto-api] \`fileUpload.resources.posts.${name}\`: a file column has a name of letters, digits and \`_\`.`),
    )
  })

  const LIST = 'Use a list of media types such as `[\'image/png\', \'image/jpeg\']`.'
  const SIZE = 'Use a number of bytes or a size such as `\'5mb\'`.'
  it.each<[string, unknown, string]>([
    ['accept', undefined, `is undefined. ${LIST}`], ['accept', [], `is an empty list. ${LIST}`],
    ['accept', 'image/png', `is "image/png". ${LIST}`],
    ['accept', ['image/png', 1], `is a list. ${LIST}`], ['maxSize', 'big', `is "big". ${SIZE}`], ['maxSize', 0, `is 0. ${SIZE}`],
    ['maxSize', -1, `is -1. ${SIZE}`],
    ['maxPixels', 0, 'is 0. Use a positive integer.'], ['maxPixels', 1.5, 'is 1.5. Use a positive integer.'],
    ['maxPixels', '9', 'is "9". Use a positive integer.'],
    ['multiple', 'yes', 'is "yes". Use `true` or `false`.'], ['maxFiles', 0, 'is 0. Use a positive integer.'],
    ['maxFiles', NaN, 'is NaN. Use a positive integer.'],
  ])('cannot have `%s` of %j', (option, value, problem) => {
    expect(() => resolve({ accept: PNG, multiple: true,
      [option]: value })).toThrow(new TypeError(`[auto-api] \`fileUpload.resources.posts.cover.${option}\` ${problem}`))
  })

  it('cannot have `maxFiles` if it has one file', () => {
    for (const multiple of [undefined, false]) {
      expect(() => resolve({ accept: PNG, maxFiles: 3, multiple }))
        .toThrow(new TypeError('[auto-api] `fileUpload.resources.posts.cover.maxFiles` has no effect without `multiple: true`.'))
    }
  })

  it.each([
    ['image/pgn', 'which uploads cannot recognize. Did you mean `image/png`?'],
    ['*/*', 'which uploads cannot recognize. The types are image/png, image/jpeg, '],
    ['.png', '`image/*`, `video/*`, `audio/*` and `text/*` stand for several.'],
  ])('cannot accept %j', (entry, part) => expect(() => resolve({ accept: [...PNG, entry] })).toThrow(part))
})

describe('the options', () => {
  it.each<[unknown, string]>([
    [undefined, '`fileUpload` is given undefined.'], [{}, '`fileUpload.resources` is undefined. Use an object such as'],
    [{ resources: {} }, '`fileUpload.resources` is an object. Use an object such as'],
    [{ resources: [] }, '`fileUpload.resources` is an empty list.'],
    [{ resources: { posts: { cover: { accept: PNG } } }, storag: 'x' }, '`fileUpload.storag` is not an option. Did you mean `storage`?'],
    [{ resources: { posts: {} } },
      '`fileUpload.resources.posts` is an object. Use an object such as `{ cover: { accept: [\'image/png\'] } }`.'],
    [{ resources: { posts: null } }, '`fileUpload.resources.posts` is null.'],
    [{ resources: { posts: ['cover'] } }, '`fileUpload.resources.posts` is a list.'],
    [{ resources: { posts: { cover: 'image/png' } } }, '`fileUpload.resources.posts.cover` is given "image/png".'],
    [{ resources: { posts: { cover: { accepts: PNG } } } },
      '`fileUpload.resources.posts.cover.accepts` is not an option. Did you mean `accept`?'],
    [{ resources: { posts: { cover: { accept: PNG } } }, storage: '' }, '`fileUpload.storage` is "".'],
  ])('cannot be %o', (options, message) => expect(() => resolveFields(options as FileUploadOptions)).toThrow(message))
})
