/** Uploads in a process of their own: memory, bodies without end, kills, and what a browser makes of hostile files. */
import { spawn, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import Database from 'better-sqlite3'
import type { Browser } from 'playwright-core'
import { build } from 'vite'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { StoredFile } from '../../src/runtime/plugins/file-upload/shared/types'
import { root } from '../support/once'
import { createPng } from '../support/png'
import { CHROMIUM, isReachable } from '../support/services'
import { filesIn } from '../plugins/file-upload/world'
import { launch } from './newsroom/browser'
import { byTier, isFull } from '../support/tiers'

const MB = 1024 * 1024

let folder: string
let program: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'auto-api-uploads-'))
  // In the repository, where it finds its packages.
  const outDir = join(root, 'test/e2e/uploads/.output')
  await build({
    configFile: false,
    logLevel: 'silent',
    ssr: { noExternal: true, external: ['better-sqlite3'] },
    build: {
      ssr: join(root, 'test/e2e/uploads/server.ts'), outDir, emptyOutDir: false,
      rollupOptions: { output: { entryFileNames: `server-${process.pid}.mjs`, codeSplitting: false } },
    },
  })
  program = join(outDir, `server-${process.pid}.mjs`)
})
afterAll(() => {
  for (const path of [folder, program]) rmSync(path, { recursive: true, force: true })
})

interface Server {
  readonly url: string
  readonly port: number
  readonly kill: () => Promise<unknown>
}

const running = new Set<ChildProcess>()
afterEach(() => {
  for (const child of running) child.kill('SIGKILL')
  running.clear()
})

const databaseOf = (name: string) => join(folder, `${name}.db`)
const uploadsOf = (name: string) => join(folder, name)

async function start(name: string, flags: readonly string[] = []): Promise<Server> {
  const child = spawn(process.execPath, [...flags, program, databaseOf(name), uploadsOf(name)], { stdio: ['ignore', 'pipe', 'inherit'] })
  running.add(child)
  const [line] = await once(child.stdout, 'data') as [Buffer]
  const port = Number(/listening (\d+)/.exec(String(line))![1])
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    async kill() {
      running.delete(child)
      const closed = once(child, 'exit')
      child.kill('SIGKILL')
      await closed
    },
  }
}

interface Usage { readonly peak: number, readonly stored: number }
const usageOf = async ({ url }: Server) => (await fetch(`${url}/usage`)).json() as Promise<Usage>

const ZIP = Buffer.from('504b030414000000', 'hex')

/** Yields a ZIP archive of a size, in pieces. */
async function* archive(size: number, hash = createHash('sha256'), pause = 0): AsyncGenerator<Uint8Array> {
  const piece = new Uint8Array(64 * 1024).fill(7)
  for (let sent = 0; sent < size;) {
    const chunk = sent === 0 ? ZIP : piece.subarray(0, size - sent)
    hash.update(chunk)
    sent += chunk.byteLength
    yield chunk
    if (pause > 0) await new Promise(resolve => setTimeout(resolve, pause))
  }
}

const upload = ({ url }: Server, path: string, body: AsyncIterable<Uint8Array> | Uint8Array, type: string) =>
  fetch(`${url}/api/docs/${path}`, { method: 'POST', headers: { 'content-type': type }, body, duplex: 'half' } as never)

describe('memory', () => {
  const SIZE = (isFull ? 200 : 40) * MB

  it(`stays flat while ${SIZE / MB} MB are uploaded and downloaded, on a heap of 128 MB`, async () => {
    const server = await start('memory', ['--max-old-space-size=128'])
    // The first requests load code.
    await upload(server, '1/upload/archive', archive(MB), 'application/zip')
    const { peak: before } = await usageOf(server)
    const [sent, received] = [createHash('sha256'), createHash('sha256')]
    const response = await upload(server, '1/upload/archive', archive(SIZE, sent), 'application/zip')
    const { archive: file } = await response.json() as { archive: StoredFile }
    const { peak: afterUpload } = await usageOf(server)
    let length = 0
    for await (const chunk of (await fetch(`${server.url}/api/docs/1/files/archive`)).body as unknown as AsyncIterable<Uint8Array>) {
      received.update(chunk)
      length += chunk.byteLength
    }
    const { peak } = await usageOf(server)
    console.log(
      `${SIZE / MB} MB: up ${((afterUpload - before) / MB).toFixed(0)} MB, then down ${((peak - afterUpload) / MB).toFixed(0)} MB of memory, ${(peak / MB).toFixed(0)} MB in all`,
    )
    const digest = sent.digest('hex')
    expect([response.status, file.size, file.sha256, length, received.digest('hex')]).toEqual([200, SIZE, digest, SIZE, digest])
    expect(peak - before).toBeLessThan(50 * MB)
  }, 120_000)
})

describe('a body without end', () => {
  const LIMIT = 5 * MB
  const chunk = (bytes: Uint8Array) => Buffer.concat([Buffer.from(`${bytes.byteLength.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
  const part = (name: string, end = '') => `--b\r\nContent-Disposition: form-data; name="${name}"${end}\r\n\r\n`
  const FORM = 'Content-Type: multipart/form-data; boundary=b'
  const PNG = 'Content-Type: image/png'
  const CHUNKED = 'Transfer-Encoding: chunked'
  const same = (bytes: Uint8Array | string) => chunk(Buffer.from(bytes as never))

  /** Sends the beginning, then the rest again and again, until the response begins. */
  function sendEndless({ port }: Server, headers: string, first: Uint8Array, rest: Uint8Array): Promise<{ status: number, sent: number }> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1')
      let sent = 0
      const more = () => {
        while (!socket.destroyed && socket.write(rest)) sent += rest.byteLength
        sent += rest.byteLength
      }
      socket.on('drain', more)
      socket.on('error', reject)
      socket.on('data', (data) => {
        socket.destroy()
        resolve({ status: Number(String(data).split(' ')[1]), sent })
      })
      socket.write(`POST /api/docs/2/upload/image HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n`)
      socket.write(first)
      more()
    })
  }

  const head = createPng(9, 9, [0, 0, 0])
  const filler = Buffer.alloc(16_384, 7)

  it('is refused after the maximum size, and needs little memory', async () => {
    const server = await start('endless')
    await upload(server, '2/upload/image', head, 'image/png')
    const { stored: whole } = await usageOf(server)
    const { peak: before } = await usageOf(server)
    const left = filesIn(uploadsOf('endless'))
    expect([whole, left.length]).toEqual([head.byteLength, 1])
    const report: unknown[] = []
    for (const [name, headers, first, rest, status] of [
      ['chunked', `${PNG}\r\n${CHUNKED}`, same(head), same(filler), 413],
      ['with a length of 10 GB', `${PNG}\r\nContent-Length: 10000000000`, head, filler, 413],
      [
        'in a form',
        `${FORM}\r\n${CHUNKED}`,
        same(Buffer.concat([Buffer.from(part('file', '; filename="a.png"')), head])),
        same(filler),
        413,
      ],
      ['of field parts', `${FORM}\r\n${CHUNKED}`, same(`${part('a')}x\r\n`), same(`${part('a')}x\r\n`.repeat(100)), 400],
      [
        'of files',
        `${FORM}\r\n${CHUNKED}`,
        same(`${part('file', '; filename="a.png"')}`),
        same(Buffer.concat([head, Buffer.from(`\r\n${part('file', '; filename="a.png"')}`)])),
        400,
      ],
      ['of headers', `${FORM}\r\n${CHUNKED}`, same('--b\r\n'), same(`X-A: ${'a'.repeat(1000)}\r\n`), 400],
      ['before the first part', `${FORM}\r\n${CHUNKED}`, same('x'), same(filler), 400],
    ] as const) {
      const answer = await sendEndless(server, headers, first, rest)
      const { stored } = await usageOf(server)
      report.push({ name, status: answer.status, stored })
      expect({ name, status: answer.status }).toEqual({ name, status })
      expect(stored).toBeLessThanOrEqual(LIMIT)
      expect(filesIn(uploadsOf('endless'))).toEqual(left)
    }
    const { peak } = await usageOf(server)
    console.log(`bodies without end: ${((peak - before) / MB).toFixed(0)} MB more memory, ${(peak / MB).toFixed(0)} MB in all`, report)
    expect(peak - before).toBeLessThan(100 * MB)
  }, 60_000)
})

describe('a kill during uploads', () => {
  const KILLS = byTier({ push: 4, full: 10, release: 40 })

  /** The files that records name. */
  function named(): { path: string, size: number, sha256: string }[] {
    const client = new Database(databaseOf('kill'), { readonly: true })
    const rows = client.prepare('select id, archive from docs where archive is not null').all() as { id: number, archive: string }[]
    client.close()
    return rows.map(({ id, archive }) => {
      const { key, size, sha256 } = JSON.parse(archive) as StoredFile
      return { path: `docs/3${id}/archive/${key}`, size, sha256 }
    })
  }

  /** Like `upload`, with Node's client: a body that `fetch` still reads when its server is killed can fail outside of the promise. */
  const send = ({ url }: Server, path: string, body: AsyncIterable<Uint8Array>) => new Promise<void>((resolve, reject) => {
    const source = Readable.from(body)
    const sending = request(`${url}/api/docs/${path}`, { method: 'POST', headers: { 'content-type': 'application/zip' } }, (response) => {
      response.resume().on('end', resolve).on('error', reject)
    })
    sending.on('error', reject).on('close', () => source.destroy())
    source.on('error', reject).pipe(sending)
  })

  it('leaves whole files of records and files that no record names, which the task removes', async () => {
    let server = await start('kill')
    let orphans = 0
    for (let run = 0; run < KILLS; run++) {
      const uploads = [1, 1, 2, 3].map(async (id) => {
        // The kill ends the loop.
        for (let ended = false; !ended;) {
          await send(server, `${id}/upload/archive`, archive(MB, undefined, run % 2)).catch(() => void (ended = true))
        }
      })
      await new Promise(resolve => setTimeout(resolve, 300 + Math.random() * 200))
      await server.kill()
      await Promise.all(uploads)
      server = await start('kill')
      for (const { path, size, sha256 } of named()) {
        const bytes = readFileSync(join(uploadsOf('kill'), path))
        expect([bytes.byteLength, createHash('sha256').update(bytes).digest('hex')]).toEqual([size, sha256])
      }
      const before = filesIn(uploadsOf('kill')).length
      expect(await (await fetch(`${server.url}/orphans`)).json()).toEqual(['fileUpload:orphans'])
      orphans += before - named().length
      expect(filesIn(uploadsOf('kill'))).toEqual(named().map(({ path }) => path).sort())
    }
    console.log(`${KILLS} kills left ${orphans} files that no record names`)
    expect(named().length).toBeGreaterThan(0)
    expect(orphans).toBeGreaterThan(0)
  }, 300_000)
})

const there = await isReachable(CHROMIUM)

describe.runIf(there)('a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  const SCRIPT = 'localStorage.setItem("ran", "1")'
  const FILES = {
    'page.html': [
      'text/html',
      `<!DOCTYPE html><html><body onload='${SCRIPT}'><script>${SCRIPT}</script><img src=x onerror='${SCRIPT}'></body></html>`,
    ],
    'drawing.svg': ['image/svg+xml', `<svg xmlns="http://www.w3.org/2000/svg" onload='${SCRIPT}'><script>${SCRIPT}</script></svg>`],
    'both.gif': ['image/gif', `GIF89a/*\x01\0\0\0*/=1;${SCRIPT};//<script>${SCRIPT}</script>`],
    'notes.txt': ['text/plain', SCRIPT],
  } as const

  it('runs nothing of an uploaded file, however it is opened, and downloads documents', async () => {
    const server = await start('browser')
    const urls: Record<string, string> = {}
    for (const [name, [type, content]] of Object.entries(FILES)) {
      const response = await upload(server, `1/upload/pages?name=${name}`, Buffer.from(content, 'latin1'), type)
      expect(response.status, await response.clone().text()).toBe(200)
      const { pages } = await response.json() as { pages: StoredFile[] }
      urls[name] = `${server.url}/api/docs/1/files/pages/${pages.at(-1)!.key}`
    }
    const context = await browser.newContext()
    const page = await context.newPage()
    /** Opens a file in every way that a page can. @returns whether a script ran, and the opened files that were downloaded */
    async function openAll(): Promise<{ ran: boolean, downloads: string[] }> {
      await page.goto(`${server.url}/page`)
      await page.evaluate(() => localStorage.clear())
      const downloads: string[] = []
      page.removeAllListeners('download')
      page.on('download', download => void downloads.push(download.suggestedFilename()))
      for (const url of Object.values(urls)) await page.goto(url).catch(() => {})
      await page.goto(`${server.url}/page`)
      await page.evaluate((all) => {
        for (const url of all) {
          for (const [tag, attribute] of [
            ['iframe', 'src'],
            ['object', 'data'],
            ['embed', 'src'],
            ['img', 'src'],
            ['script', 'src'],
          ] as const)
            document.body.append(Object.assign(document.createElement(tag), { [attribute]: url }))
        }
      }, Object.values(urls))
      await page.waitForLoadState('networkidle')
      return { ran: await page.evaluate(() => localStorage.getItem('ran') !== null), downloads: [...new Set(downloads)].sort() }
    }
    expect(await openAll()).toEqual({ ran: false, downloads: ['drawing.svg', 'notes.txt', 'page.html'] })
    // Each protection alone is enough for pages and drawings; without both, the scripts run.
    const without = (...names: string[]) => page.route('**/files/**', async (route) => {
      const response = await route.fetch()
      const headers = Object.fromEntries(Object.entries(response.headers()).filter(([name]) => !names.includes(name)))
      await route.fulfill({ response, headers })
    })
    await without('content-disposition')
    expect(await openAll()).toEqual({ ran: false, downloads: [] })
    await page.unroute('**/files/**')
    await without('content-disposition', 'content-security-policy', 'x-content-type-options')
    expect((await openAll()).ran).toBe(true)
    await context.close()
  }, 60_000)
})
