/** The requests to S3: their addresses and signatures, large files in parts, repeated requests, and responses that are no success. */
import { afterEach, beforeEach, describe, expect, it, vi, type Mock } from 'vitest'
import type { FileStorage } from '../../../src/runtime/shared/file-storage'
import { s3Storage, type S3Options } from '../../../src/runtime/plugins/file-upload/storage/s3'
import { sha256 } from './bytes'

const KEYS = { accessKeyId: 'AKIALOCAL', secretAccessKey: 'secret' }
const KEY = 'posts/31/cover/a'
const META = { type: 'image/png' }
const PART = 8 * 1024 * 1024

interface SentRequest {
  readonly method: string
  readonly url: URL
  readonly body: Uint8Array
}
type Answer = (request: SentRequest) => Response | Error | undefined

/** The requests that were sent, as `METHOD /path?query`. */
let sent: string[]
/** The milliseconds before each repeated request. */
let delays: number[]
let fetched: Mock<typeof fetch>
let answer: Answer
beforeEach(() => {
  sent = []
  delays = []
  answer = () => undefined
  fetched = vi.fn(async (input, init) => {
    const url = new URL(String(input))
    sent.push(`${init!.method} ${url.pathname}${url.search}`)
    const body = init!.body as Uint8Array | undefined ?? new Uint8Array()
    const response = answer({ method: init!.method!, url, body })
    if (response instanceof Error) throw response
    return response ?? new Response(null, { status: 200 })
  })
  vi.stubGlobal('fetch', fetched)
  vi.spyOn(Math, 'random').mockReturnValue(0.5)
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((run: () => void, delay: number) => {
    delays.push(delay)
    queueMicrotask(run)
  }) as never)
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

const open = (options: Partial<S3Options> = {}): FileStorage =>
  s3Storage({ bucket: 'files', region: 'eu-central-1', endpoint: 'http://s3.test', ...options }, KEYS)

async function* chunks(...parts: readonly (string | Uint8Array | Error)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    if (part instanceof Error) throw part
    yield Buffer.from(part as never)
  }
}

async function read(found: AsyncIterable<Uint8Array> | undefined): Promise<string | undefined> {
  if (!found) return undefined
  const all: Uint8Array[] = []
  for await (const chunk of found) all.push(chunk)
  return Buffer.concat(all).toString()
}

async function keys(storage: FileStorage, prefix?: string): Promise<string[]> {
  const all: string[] = []
  for await (const key of storage.list(prefix)) all.push(key)
  return all
}

const error = (status: number, code = 'Reason') => new Response(`<Error><Code>${code}</Code></Error>`, { status })

describe('the address', () => {
  it.each<[Partial<S3Options>, string]>([
    [{ endpoint: undefined }, 'https://files.s3.eu-central-1.amazonaws.com/'], [{}, 'http://s3.test/files/'],
    [{ endpoint: 'http://s3.test/' }, 'http://s3.test/files/'], [{ endpoint: 'http://s3.test/a/b/' }, 'http://s3.test/a/b/files/'],
    [{ prefix: 'app/' }, 'http://s3.test/files/app/'],
  ])('of a bucket with the options %o is %s', async (options, base) => {
    await open(options).put(KEY, chunks('a'), META)
    expect(String(fetched.mock.calls[0]![0])).toBe(`${base}${KEY}`)
  })
})

describe('a request', () => {
  it('is signed, names the hash of its body, ends after a minute and follows no redirect', async () => {
    vi.useFakeTimers({ now: new Date('2026-11-22T10:00:00Z'), toFake: ['Date'] })
    const timeout = vi.spyOn(AbortSignal, 'timeout')
    await s3Storage({ bucket: 'files', region: 'eu-central-1' }, { ...KEYS, sessionToken: 'temporary' }).put(KEY, chunks('a'), META)
    vi.useRealTimers()
    const { method, headers, redirect, signal, body } = fetched.mock.calls[0]![1]!
    expect({ method, redirect, body: Buffer.from(body as Uint8Array).toString() }).toEqual({ method: 'PUT', redirect: 'error', body: 'a' })
    expect(timeout).toHaveBeenCalledExactlyOnceWith(60_000)
    expect(signal).toBe(timeout.mock.results[0]!.value)
    const all = Object.fromEntries(new Headers(headers))
    expect(all).toMatchObject({
      'content-type': 'image/png', 'x-amz-content-sha256': sha256(Buffer.from('a')), 'x-amz-date': '20261122T100000Z',
      'x-amz-security-token': 'temporary',
    })
    expect(all.authorization).toMatch(
      new RegExp('^AWS4-HMAC-SHA256 Credential=AKIALOCAL/20261122/eu-central-1/s3/aws4_request, '
        + 'SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;x-amz-security-token, Signature=[\\da-f]{64}$'),
    )
  })

  it('without a body has the hash of nothing', async () => {
    await open().delete(KEY)
    expect(new Headers(fetched.mock.calls[0]![1]!.headers).get('x-amz-content-sha256')).toBe(sha256(Buffer.alloc(0)))
    expect(fetched.mock.calls[0]![1]!.body).toBeUndefined()
  })

  it('has the keys of its time', async () => {
    let count = 0
    const storage = s3Storage({ bucket: 'files', region: 'x' }, () => ({ ...KEYS, accessKeyId: `key${++count}` }))
    await storage.delete(KEY)
    await storage.delete(KEY)
    const headers = fetched.mock.calls.map(([, init]) => new Headers(init!.headers).get('authorization')!)
    expect(headers.map(header => /Credential=(\w+)/.exec(header)![1])).toEqual(['key1', 'key2'])
  })

  it.each<[string, () => Response | Error]>([
    ['an error of the network', () => new TypeError('fetch failed')],
    ['500 without a body', () => new Response(null, { status: 500 })],
    ['500', () => error(500)],
    ['503', () => error(503)],
    ['429', () => error(429)],
  ])('is repeated up to three times after %s, later each time', async (_case, fail) => {
    answer = () => (sent.length < 4 ? fail() : undefined)
    await open().put(KEY, chunks('a'), META)
    expect(sent).toEqual(Array(4).fill(`PUT /files/${KEY}`))
    expect(delays).toEqual([100, 200, 400])
  })

  it('throws the last error after four attempts', async () => {
    answer = () => error(503, 'SlowDown')
    await expect(open().delete(KEY)).rejects.toThrow('[auto-api] The S3 service responded with 503 to DELETE: SlowDown')
    expect(sent).toHaveLength(4)
    const cause = new TypeError('fetch failed')
    answer = () => cause
    await expect(open().delete(KEY)).rejects.toMatchObject({ message: '[auto-api] The S3 service at s3.test did not respond.', cause })
    expect(sent).toHaveLength(8)
  })

  it.each([400, 403, 404, 409, 428, 430, 499])('is not repeated after %i', async (status) => {
    answer = () => error(status, 'AccessDenied')
    await expect(open().put(KEY, chunks('a'), META)).rejects.toThrow(`The S3 service responded with ${status} to PUT: AccessDenied`)
    expect(sent).toHaveLength(1)
  })

  it.each([['', 'no reason given'], ['not XML', 'no reason given'],
    ['<Error><Code>A &amp; B &lt;&gt;&quot;&apos; &#65;&#x42; &unknown;</Code></Error>', 'A & B <>"\' AB &unknown;']])(
    'names the reason of the response %j', async (body, reason) => {
      answer = () => new Response(body, { status: 400 })
      await expect(open().delete(KEY)).rejects.toThrow(new Error(`[auto-api] The S3 service responded with 400 to DELETE: ${reason}`))
    })

  it('names no reason if the response breaks', async () => {
    answer = () => new Response(new ReadableStream({ start: controller => controller.error(new Error('The connection broke.')) }),
      { status: 400 })
    await expect(open().delete(KEY)).rejects.toThrow('responded with 400 to DELETE: no reason given')
  })

  it('leaves no response unread', async () => {
    const cancel = vi.fn()
    const unread = (status: number) => new Response(new ReadableStream({ cancel }), { status })
    answer = () => unread(sent.length === 1 ? 500 : 200)
    await open().put(KEY, chunks('a'), META)
    expect(cancel).toHaveBeenCalledTimes(2)
    answer = () => unread(200)
    await open().delete(KEY)
    expect(cancel).toHaveBeenCalledTimes(3)
    answer = () => unread(404)
    expect(await open().get(KEY)).toBeUndefined()
    expect(cancel).toHaveBeenCalledTimes(4)
  })
})

describe('storing', () => {
  const started = () => new Response('<X><UploadId>a&amp;b</UploadId></X>')
  /** A service that accepts uploads in parts. */
  const accepting: Answer = ({ method, url, body }) => {
    if (url.searchParams.has('uploads')) return started()
    if (method === 'PUT') return new Response(null, { headers: { etag: `"<${body.byteLength}&>"` } })
    return undefined
  }

  const isEnd = ({ method, url }: SentRequest) => method === 'POST' && url.searchParams.has('uploadId')

  it.each([0, 1, PART])('sends a file of %i bytes in one request', async (size) => {
    await open().put(KEY, chunks(new Uint8Array(size)), META)
    expect(sent).toEqual([`PUT /files/${KEY}`])
    expect((fetched.mock.calls[0]![1]!.body as Uint8Array).byteLength).toBe(size)
  })

  it('sends a larger file in parts, and lists them with their tags', async () => {
    answer = accepting
    await open({ prefix: 'app/' }).put(KEY, chunks(new Uint8Array(PART + 1), new Uint8Array(PART)), META)
    const path = `/files/app/${KEY}`
    expect(sent).toEqual([
      `POST ${path}?uploads=`, `PUT ${path}?partNumber=1&uploadId=a%26b`, `PUT ${path}?partNumber=2&uploadId=a%26b`,
      `PUT ${path}?partNumber=3&uploadId=a%26b`, `POST ${path}?uploadId=a%26b`,
    ])
    const [start, ...parts] = fetched.mock.calls.map(([, init]) => init!)
    expect(new Headers(start!.headers).get('content-type')).toBe('image/png')
    expect(parts.slice(0, 3).map(({ body }) => (body as Uint8Array).byteLength)).toEqual([PART, PART, 1])
    const tag = (size: number) => `"&lt;${size}&amp;&gt;"`
    expect(Buffer.from(parts[3]!.body as Uint8Array).toString()).toBe(
      `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${tag(PART)}</ETag></Part>`
      + `<Part><PartNumber>2</PartNumber><ETag>${tag(PART)}</ETag></Part>`
      + `<Part><PartNumber>3</PartNumber><ETag>${tag(1)}</ETag></Part></CompleteMultipartUpload>`,
    )
  })

  it('sends a file of a byte more than a part in two parts', async () => {
    answer = accepting
    await open().put(KEY, chunks(new Uint8Array(PART), 'a'), META)
    expect(sent.map(request => request.split('?')[0])).toEqual([`POST /files/${KEY}`, `PUT /files/${KEY}`, `PUT /files/${KEY}`,
      `POST /files/${KEY}`])
  })

  it.each<[string, Answer]>([
    ['a part is refused', request => request.url.searchParams.get('partNumber') === '2' ? error(400, 'Broken') : accepting(request)],
    ['the end is refused', request => isEnd(request)
      ? error(400,
          'Broken')
      : accepting(request)],
    ['the end fails after its status', request => isEnd(request) ? new Response('<Error><Code>Broken</Code></Error>') : accepting(request)],
  ])('removes the parts if %s', async (_case, respond) => {
    answer = respond
    await expect(open().put(KEY, chunks(new Uint8Array(PART + 1)), META)).rejects.toThrow('Broken')
    expect(sent.at(-1)).toBe(`DELETE /files/${KEY}?uploadId=a%26b`)
  })

  it('says that the end failed after its status', async () => {
    answer = request => isEnd(request) ? new Response('<Error><Code>InternalError</Code></Error>') : accepting(request)
    await expect(open().put(KEY, chunks(new Uint8Array(PART + 1)),
      META)).rejects.toThrow('[auto-api] The S3 service did not complete an upload: InternalError')
  })

  it('removes the parts if the chunks fail', async () => {
    answer = accepting
    const failure = new Error('The client left.')
    await expect(open().put(KEY, chunks(new Uint8Array(2 * PART), failure), META)).rejects.toBe(failure)
    expect(sent.at(-1)).toBe(`DELETE /files/${KEY}?uploadId=a%26b`)
    sent = []
    await expect(open().put(KEY, chunks(new Uint8Array(PART), failure), META)).rejects.toBe(failure)
    expect(sent).toEqual([])
  })

  it('throws the first error, and logs that the parts could not be removed', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    answer = request => request.method === 'DELETE'
      ? error(403, 'AccessDenied')
      : request.url.searchParams.has('partNumber')
        ? error(400,
            'Broken')
        : accepting(request)
    await expect(open().put(KEY, chunks(new Uint8Array(PART + 1)), META)).rejects.toThrow('Broken')
    expect(log).toHaveBeenCalledExactlyOnceWith('[auto-api] An unfinished upload to S3 was not removed.',
      expect.objectContaining({ message: expect.stringContaining('AccessDenied') }))
    log.mockClear()
    answer = request => request.method === 'DELETE'
      ? error(404)
      : request.url.searchParams.has('partNumber')
        ? error(400,
            'Broken')
        : accepting(request)
    await expect(open().put(KEY, chunks(new Uint8Array(PART + 1)), META)).rejects.toThrow('Broken')
    expect(log).not.toHaveBeenCalled()
  })

  it('fails if the service starts no upload', async () => {
    answer = () => new Response('<X></X>')
    await expect(open().put(KEY, chunks(new Uint8Array(PART + 1)),
      META)).rejects.toThrow('[auto-api] The S3 service did not start an upload.')
    expect(sent).toEqual([`POST /files/${KEY}?uploads=`])
  })

  it('lists a part without a tag', async () => {
    answer = ({ url }) => url.searchParams.has('uploads') ? started() : undefined
    await open().put(KEY, chunks(new Uint8Array(PART + 1)), META)
    const list = Buffer.from(fetched.mock.calls.at(-1)![1]!.body as Uint8Array).toString()
    expect(list).toContain('<Part><PartNumber>1</PartNumber><ETag></ETag></Part>')
  })
})

describe('reading', () => {
  it('returns the file, and nothing for a missing file', async () => {
    answer = () => new Response('content')
    expect(await read(await open({ prefix: 'app/' }).get(KEY))).toBe('content')
    expect(sent).toEqual([`GET /files/app/${KEY}`])
    expect(new Headers(fetched.mock.calls[0]![1]!.headers).has('range')).toBe(false)
    answer = () => new Response(null)
    expect(await read(await open().get(KEY))).toBe('')
    answer = () => error(404)
    expect(await open().get(KEY)).toBeUndefined()
    answer = () => new Response(null, { status: 404 })
    expect(await open().get(KEY)).toBeUndefined()
  })

  it('requests a range, and accepts no whole file instead', async () => {
    answer = () => new Response('con', { status: 206 })
    expect(await read(await open().get(KEY, { start: 2, end: 4 }))).toBe('con')
    expect(new Headers(fetched.mock.calls[0]![1]!.headers).get('range')).toBe('bytes=2-4')
    answer = () => new Response('content')
    await expect(open().get(KEY, { start: 2, end: 4 })).rejects.toThrow('[auto-api] The S3 service ignored a range.')
  })
})

describe('removing and listing', () => {
  it('removes a file, and does nothing if there is none', async () => {
    for (const status of [204, 404]) {
      answer = () => new Response(null, { status })
      await open({ prefix: 'app/' }).delete(KEY)
    }
    expect(sent).toEqual(Array(2).fill(`DELETE /files/app/${KEY}`))
  })

  it('lists all pages, without the prefix of the app', async () => {
    const page = (names: readonly string[], next = '') =>
      new Response(`<R>${names.map(name => `<Contents><Key>${name}</Key></Contents>`).join('')}`
        + `${next && `<NextContinuationToken>${next}</NextContinuationToken>`}</R>`)
    answer = ({ url }) => url.searchParams.get('continuation-token') === 'a&b'
      ? page(['app/posts/c'])
      : page(['app/posts/a',
          'app/posts/b'], 'a&amp;b')
    expect(await keys(open({ prefix: 'app/' }), 'posts/')).toEqual(['posts/a', 'posts/b', 'posts/c'])
    expect(sent).toEqual(['GET /files/?list-type=2&prefix=app%2Fposts%2F',
      'GET /files/?list-type=2&prefix=app%2Fposts%2F&continuation-token=a%26b'])
    sent = []
    answer = () => page([])
    expect(await keys(open())).toEqual([])
    expect(sent).toEqual(['GET /files/?list-type=2&prefix='])
  })

  it('removes uploads that began before a time', async () => {
    const upload = (content: string) => `<Upload>${content}</Upload>`
    const whole = (id: string, time: string) => upload(`<Key>app/${id}</Key><UploadId>${id}</UploadId><Initiated>${time}</Initiated>`)
    const all = [
      whole('old', '2026-01-01T00:00:00.000Z'), whole('equal', '2026-01-02T00:00:00.000Z'), whole('new', '2026-01-03T00:00:00.000Z'),
      upload('<Key>app/a</Key><Initiated>2026-01-01T00:00:00.000Z</Initiated>'),
      upload('<UploadId>b</UploadId><Initiated>2026-01-01T00:00:00.000Z</Initiated>'),
      upload('<Key>app/c</Key><UploadId>c</UploadId>'), whole('later', '2026-01-01T23:59:59.999Z'),
    ]
    answer = ({ method, url }) => {
      if (method === 'GET') return new Response(`<R>${all.join('')}</R>`)
      return url.searchParams.get('uploadId') === 'later' ? error(404) : undefined
    }
    await open({ prefix: 'app/' }).removeUnfinished!(new Date('2026-01-02'))
    expect(sent).toEqual(['GET /files/?uploads=&prefix=app%2F', 'DELETE /files/app/old?uploadId=old',
      'DELETE /files/app/later?uploadId=later'])
  })
})

it('refuses keys that could leave the bucket', async () => {
  for (const key of ['../a', 'a/', '', 'a:b']) {
    await expect(open().put(key, chunks('a'), META)).rejects.toThrow(TypeError)
    await expect(open().get(key)).rejects.toThrow(TypeError)
    await expect(open().delete(key)).rejects.toThrow(TypeError)
  }
  for (const prefix of ['../', 'a', '/']) await expect(keys(open(), prefix)).rejects.toThrow(TypeError)
  expect(sent).toEqual([])
})
