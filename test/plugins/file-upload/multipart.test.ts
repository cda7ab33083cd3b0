/** Multipart bodies byte for byte: boundaries, headers and their limits, and that the source of a body is closed in every case. */
import { describe, expect, it } from 'vitest'
import { openMultipart } from '../../../src/runtime/plugins/file-upload/content/multipart'

const TYPE = 'multipart/form-data; boundary=b'
const FILE = 'Content-Disposition: form-data; name="file"; filename="a.txt"'
const body = (headers = FILE, content = 'content', end = '--b--') => `--b\r\n${headers}\r\n\r\n${content}\r\n${end}`

function createSource(text: string, size: number) {
  const state = { isClosed: false, chunks: 0 }
  async function* read(): AsyncGenerator<Uint8Array> {
    try {
      for (let at = 0; at < text.length; at += size) {
        state.chunks++
        yield Buffer.from(text.slice(at, at + size), 'latin1')
      }
    }
    finally {
      state.isClosed = true
    }
  }
  return { state, source: read() }
}

async function read(text: string, { type = TYPE, size = 65_536 } = {}) {
  const { source, state } = createSource(text, size)
  const { claim, chunks } = await openMultipart(source, type)
  const all: Uint8Array[] = []
  for await (const chunk of chunks) {
    expect(chunk.byteLength).toBeGreaterThan(0)
    all.push(Buffer.from(chunk))
  }
  expect(state.isClosed).toBe(true)
  return { ...claim, content: Buffer.concat(all).toString('latin1') }
}

describe('the boundary', () => {
  const LONG = 'b'.repeat(70)
  it.each([
    [LONG, LONG], [`"${LONG}"`, LONG], ['"a b=c,d?e:f"', 'a b=c,d?e:f'], ['a\'()+_-./:=?', 'a\'()+_-./:=?'], ['b; charset=utf-8', 'b'],
    ['b ;x=y', 'b'],
    ['"b" ', 'b'], ['b  ', 'b'],
  ])('can be %s', async (sent, boundary) => {
    const text = body(undefined, undefined, '--b--').replaceAll('--b', `--${boundary}`)
    expect(await read(text, { type: `multipart/form-data; boundary=${sent}` })).toMatchObject({ name: 'a.txt', content: 'content' })
    expect(await read(text, { type: `Multipart/Form-Data ;x=y;  Boundary=${sent}` })).toMatchObject({ name: 'a.txt', content: 'content' })
  })

  it.each(['', '"', '""', '"b', 'b"', 'b c', `${LONG}b`, `"${LONG}b"`, '"b"c', 'b,c', '"b\\"', 'b\nc'])('cannot be %j', async (sent) => {
    const { source, state } = createSource(body(), 10)
    await expect(openMultipart(source, `multipart/form-data; boundary=${sent}`)).rejects
      .toMatchObject({ status: 400, message: 'The media type has no valid `boundary`.' })
    expect(state.chunks).toBe(0)
  })

  it.each(['', 'multipart/form-data', 'multipart/form-data;boundar=b', 'multipart/mixed; boundary=b', 'x multipart/form-data; boundary=b',
    'multipart/form-datax; boundary=b', 'multipart/form-data; xboundary=b'])(
    'is required: %j', async (type) => {
      await expect(openMultipart(createSource(body(), 10).source, type)).rejects.toMatchObject({ status: 400 })
    })
})

describe('the headers of the file', () => {
  it.each([
    ['name="x"; filename="a.txt"', 'a.txt'], ['filename="a.txt"', 'a.txt'], ['name=x;filename=a.txt', 'a.txt'],
    ['name=x;   filename=a.txt; x=y', 'a.txt'],
    ['name="x"; filename=a.txt;x', 'a.txt'], ['name="x"; filename=""', ''], ['name="x"; filename="a;b \\"c\\" \\d"', 'a;b "c" \\d'],
    ['name="x"; FileName="a"', 'a'],
    ['name="x"; filename="a\\\\"', 'a\\\\'],
  ])('can contain the name %s', async (parameters, name) => {
    expect(await read(body(`Content-Disposition: form-data; ${parameters}`))).toEqual({ name, type: undefined, content: 'content' })
    expect((await read(body(`X-A: b\r\ncontent-disposition \t:\tForm-Data; ${parameters}\r\nX-B: c`), { size: 3 })).name).toBe(name)
  })

  it.each([
    'Content-Disposition: form-data; name="x"', 'Content-Disposition: form-data', 'Content-Disposition: attachment; filename="a"',
    'Content-Disposition: form-datax; filename="a"', 'Content-Disposition: x form-data; filename="a"',
    'Content-Disposition: form-data; xfilename="a"',
    'X-Content-Disposition: form-data; filename="a"', 'X-A: b', 'Content-Disposition: form-data; filename=', 'Content-Type: text/plain',
  ])('must name a file: %s', async (headers) => {
    await expect(read(body(headers))).rejects.toMatchObject({ status: 400,
      message: 'The body has a part that is not a file. Send exactly one file.' })
  })

  it.each([
    ['Content-Type: image/png', 'image/png'], ['content-type:IMAGE/PNG', 'image/png'], ['Content-Type: \timage/png ; a=b; c', 'image/png'],
    ['X-Content-Type: image/png', undefined], ['X-A: Content-Type: image/png', undefined], ['Content-Type:', ''],
  ])('can declare its type: %s', async (header, type) => {
    expect((await read(body(`${header}\r\n${FILE}`))).type).toBe(type)
    expect((await read(body(`${FILE}\r\n${header}`))).type).toBe(type)
  })

  it.each(['binary', '8bit', '7bit', 'BINARY', ' binary \t'])('can declare that the content has the transfer encoding %s, which is none',
    async (encoding) => {
      expect((await read(body(`${FILE}\r\nContent-Transfer-Encoding: ${encoding}`))).content).toBe('content')
    })

  it.each(['base64', 'quoted-printable', 'x-binary', '7bits', ''])('cannot declare the transfer encoding %j', async (encoding) => {
    await expect(read(body(`${FILE}\r\nContent-Transfer-Encoding: ${encoding}`))).rejects
      .toMatchObject({ status: 400, message: 'The file has a transfer encoding. Send its bytes.' })
  })
})

describe('the limits of a body', () => {
  const LIMIT = 16 * 1024
  const padded = (length: number) => `X-A: ${'a'.repeat(length - FILE.length - 7)}\r\n${FILE}`

  it.each([65_536, 997])('are 16 kB of headers, in chunks of %i bytes', async (size) => {
    expect((await read(body(padded(LIMIT - 2)), { size })).content).toBe('content')
    await expect(read(body(padded(LIMIT - 1)), { size })).rejects.toMatchObject({ message: 'The headers of a part are too long.' })
  })

  it.each([65_536, 997, LIMIT - 2])('are 16 kB before the file, in chunks of %i bytes', async (size) => {
    expect((await read(`${'x'.repeat(LIMIT - 2)}\r\n${body()}`, { size })).content).toBe('content')
    await expect(read(`${'x'.repeat(LIMIT - 1)}\r\n${body()}`, { size })).rejects.toMatchObject({ message: 'The body has no part.' })
  })

  it('end the reading of a body', async () => {
    for (const text of ['x'.repeat(1e6), `--b${' '.repeat(1e6)}`, `--b\r\nX-A: ${'a'.repeat(1e6)}`]) {
      const { source, state } = createSource(text, 1000)
      await expect(openMultipart(source, TYPE)).rejects.toMatchObject({ status: 400 })
      expect(state).toEqual({ isClosed: true, chunks: 17 })
    }
  })
})

describe('a body', () => {
  it.each([
    ['', 'The body has no part.'],
    ['--', 'The body has no part.'],
    ['--b', 'A part has no headers.'],
    ['--b\r', 'A part has no headers.'],
    ['--b--\r\n', 'The body has no file.'],
    ['--b--x\r\n', 'The body has no file.'],
    ['--bx\r\n', 'The body is not a valid multipart body.'],
    ['--b -\r\n', 'The body is not a valid multipart body.'],
    ['--b\r\n', 'The headers of a part are too long.'],
    [`--b\r\n${FILE}\r\n`, 'The headers of a part are too long.'],
    ['--b\r\n\r\n--b--', 'The body has a part that is not a file. Send exactly one file.'],
  ])('%j is refused before its content, and its source is closed', async (text, message) => {
    for (const size of [1, 65_536]) {
      const { source, state } = createSource(text, size)
      await expect(openMultipart(source, TYPE)).rejects.toMatchObject({ status: 400, data: { code: 'INVALID_BODY' }, message })
      expect(state.isClosed).toBe(true)
    }
  })

  it.each([
    [body().slice(0, -5), 'The body ended before the end of the file.'],
    [body().slice(0, -7), 'The body ended before the end of the file.'],
    [body().slice(0, -14), 'The body ended before the end of the file.'],
    [body().slice(0, -2), 'The body has more than one part. Send exactly one file.'],
    [body().slice(0, -1), 'The body has more than one part. Send exactly one file.'],
    [`--b\r\n${FILE}\r\n\r\n\r\n--b`, 'The body has more than one part. Send exactly one file.'],
    [body(undefined, undefined, '--b- '), 'The body has more than one part. Send exactly one file.'],
    [body(undefined, undefined, body()), 'The body has more than one part. Send exactly one file.'],
  ])('%j is refused after its content, and its source is closed', async (text, message) => {
    for (const size of [1, 2, 3, 5, 65_536]) {
      const { source, state } = createSource(text, size)
      const { chunks } = await openMultipart(source, TYPE)
      const readAll = async () => {
        for await (const chunk of chunks) expect(chunk.byteLength).toBeGreaterThan(0)
      }
      await expect(readAll()).rejects.toMatchObject({ status: 400, data: { code: 'INVALID_BODY' }, message })
      expect(state.isClosed).toBe(true)
    }
  })

  it('has its source closed if the reader of the file stops', async () => {
    const { source, state } = createSource(body(FILE, 'x'.repeat(10_000)), 500)
    const { chunks } = await openMultipart(source, TYPE)
    expect(state.isClosed).toBe(false)
    for await (const chunk of chunks) if (chunk.byteLength > 0) break
    expect(state.isClosed).toBe(true)
    expect(state.chunks).toBeLessThan(5)
  })

  it.each(['', '\r', '\r\n', '\r\n-', '\r\n--', '\r\n--a', '\n--b', '--b', '--b--', '\r\n--B--', '\r\r\n--',
    'x\r\n--\r\n--'])('can contain a file with %j', async (content) => {
    for (const size of [1, 2, 3, 4, 5, 6, 7, 65_536]) {
      expect((await read(body(FILE, content), { size })).content).toBe(content)
      expect((await read(body(FILE, content.repeat(3)), { size })).content).toBe(content.repeat(3))
    }
  })

  it('passes the file on while it arrives', async () => {
    const { source, state } = createSource(body(FILE, 'x'.repeat(100_000)), 1000)
    const { chunks } = await openMultipart(source, TYPE)
    let length = 0
    for await (const chunk of chunks) {
      length += chunk.byteLength
      // At most the length of the delimiter is held back.
      expect(length).toBeGreaterThanOrEqual(Math.min(100_000, (state.chunks - 1) * 1000 - 200))
    }
    expect(length).toBe(100_000)
  })

  it('is read no further than its end', async () => {
    const { source, state } = createSource(`${body()}${'x'.repeat(1000)}`, 1)
    const { chunks } = await openMultipart(source, TYPE)
    for await (const chunk of chunks) expect(chunk.byteLength).toBe(1)
    expect(state).toEqual({ isClosed: true, chunks: body().length })
  })

  it('can come from a source that cannot be closed', async () => {
    const { source } = createSource(body(), 10)
    const { chunks } = await openMultipart({ [Symbol.asyncIterator]: () => ({ next: () => source.next() }) }, TYPE)
    let length = 0
    for await (const chunk of chunks) length += chunk.byteLength
    expect(length).toBe(7)
  })

  it('can have white space after its boundary, text before and after its part, and no line break at its end', async () => {
    for (const text of [`--b \t\r\n${body().slice(5)}`, `text\r\n${body()}`, `\r\n${body()}`, `${body()}\r\ntext`, body()])
      for (const size of [1, 65_536]) expect((await read(text, { size })).content).toBe('content')
  })
})
