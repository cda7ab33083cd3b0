/** What a record contains about its files, and under which keys they are stored. */
import { describe, expect, it } from 'vitest'
import { parsePath, prefixOf } from '../../../src/runtime/plugins/file-upload/server/record/path'
import { createKey, filesOf, isKey, timeOf } from '../../../src/runtime/plugins/file-upload/server/record/stored-file'

const KEY = '01936f00-0a1b-7000-8000-0123456789ab'
const FILE = { key: KEY, name: 'a.png', type: 'image/png', size: 1, sha256: 'x' }

describe('the value of a file column', () => {
  it.each<[string, unknown, readonly unknown[]]>([
    ['a file', FILE, [FILE]], ['a list', [FILE, { ...FILE, size: 0 }], [FILE, { ...FILE, size: 0 }]],
    ['text with a file', JSON.stringify(FILE), [FILE]], ['text with a list', JSON.stringify([FILE]), [FILE]],
    ['nothing', null, []], ['a missing value', undefined, []], ['empty text', '', []], ['text that is no JSON', '{', []],
    ['text with `null`', 'null', []], ['a number', 1, []], ['an empty list', [], []],
    ['a list with other values', [null, 1, 'a', FILE, {}], [FILE]],
  ])('can be %s', (_name, value, files) => expect(filesOf(value)).toEqual(files))

  it.each(['key', 'name', 'type', 'size', 'sha256'])('is no file without a valid `%s`', (name) => {
    for (const value of [undefined, null, {}, true, ...name === 'size' ? ['1', 1.5, -1, NaN] : [7]])
      expect(filesOf({ ...FILE, [name]: value })).toEqual([])
  })

  it('is no file with a key that could be a path', () => {
    for (const key of ['', 'a', '../../etc/passwd', `${KEY}/x`, `x/${KEY}`, `x${KEY}`, `${KEY}x`, KEY.toUpperCase(), [KEY],
      KEY.replace('-7', '-4'), KEY.replace('-8', '-c')]) {
      expect(isKey(key)).toBe(false)
      expect(filesOf({ ...FILE, key })).toEqual([])
    }
    for (const variant of '89ab') expect(isKey(KEY.replace('-8', `-${variant}`))).toBe(true)
  })
})

describe('the key of a file', () => {
  it('contains the time of the upload', () => {
    expect(timeOf(KEY)).toBe(0x01936F000A1B)
    const before = Date.now()
    const key = createKey()
    expect(isKey(key)).toBe(true)
    expect(timeOf(key)).toBeGreaterThanOrEqual(before)
    expect(timeOf(key)).toBeLessThanOrEqual(Date.now())
  })
})

describe('the path of a file', () => {
  it.each(['1', 'a', 'ä/..\\', '\0', 'x'.repeat(120)])('contains any id: %j', (id) => {
    const prefix = prefixOf('posts', id)!
    expect(prefix).toBe(`posts/${Buffer.from(id).toString('hex')}/`)
    expect(parsePath(`${prefix}cover/${KEY}`)).toEqual({ resource: 'posts', id, field: 'cover', key: KEY })
  })

  it('does not exist for an id that is longer than a file system allows', () => {
    expect(prefixOf('posts', 'x'.repeat(121))).toBeUndefined()
    expect(prefixOf('posts', 'ä'.repeat(61))).toBeUndefined()
  })

  it.each([
    '', 'posts', 'posts/31', 'posts/31/cover', 'posts/31/cover/', 'posts/31/cover/a', `/31/cover/${KEY}`, `posts//cover/${KEY}`,
    `posts/31//${KEY}`, `posts/31/cover/${KEY}/x`, `posts/31/cover/${KEY}/`, `posts/3/cover/${KEY}`, `posts/3g/cover/${KEY}`,
    `posts/g3/cover/${KEY}`,
    `posts/31 /cover/${KEY}`, `posts/3A/cover/${KEY}`, `posts/zz31/cover/${KEY}`, `posts/31zz/cover/${KEY}`,
  ])('is not %j', path => expect(parsePath(path)).toBeUndefined())
})
