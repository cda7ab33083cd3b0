/** Stores files in a bucket of S3 or of a service with the same API. A file above 8 MB is sent in parts, so one part is in memory. */
import { AwsV4Signer } from 'aws4fetch'
import { toHex } from '../../../shared/bytes'
import { fromWebStream, toParts } from './chunks'
import { assertKey, assertPrefix, type FileStorage } from '../../../shared/file-storage'

export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** The token of temporary credentials. */
  readonly sessionToken?: string
}

export interface S3Options {
  readonly bucket: string
  /** The region of the bucket. */
  readonly region: string
  /**
   * The URL of another service, such as `https://<account>.r2.cloudflarestorage.com`. Its paths begin with the bucket.
   * @default the address of the bucket at AWS
   */
  readonly endpoint?: string
  /**
   * The beginning of every key, if several apps share the bucket.
   * @default ''
   */
  readonly prefix?: string
}

const PART = 8 * 1024 * 1024
const ATTEMPTS = 4
/** Milliseconds for one request. */
const TIMEOUT = 60_000

interface S3Request {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  readonly key?: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: Uint8Array<ArrayBuffer>
  readonly headers?: Readonly<Record<string, string>>
  /** The statuses besides 2xx that are no error. */
  readonly accepts?: readonly number[]
}

type Send = (request: S3Request) => Promise<Response>

/**
 * Creates a storage in a bucket.
 * @param credentials the keys, or a function that returns them for each request
 * @example
 * export const files = s3Storage({ bucket: 'newsroom', region: 'eu-central-1' }, { accessKeyId, secretAccessKey })
 */
export function s3Storage(options: S3Options, credentials: S3Credentials | (() => S3Credentials)): FileStorage {
  const { prefix: base = '' } = options
  const send = createSend(options, typeof credentials === 'function' ? credentials : () => credentials)
  return {
    async put(key, chunks, { type }) {
      assertKey(key)
      await putParts(send, base + key, toParts(chunks, PART), type)
    },
    async get(key, range) {
      assertKey(key)
      const headers = range && { range: `bytes=${range.start}-${range.end}` }
      const response = await send({ method: 'GET', key: base + key, headers, accepts: [404] })
      if (response.status === 404) return void await response.body?.cancel()
      if (range && response.status !== 206) throw new Error('[auto-api] The S3 service ignored a range.')
      return fromWebStream(response.body ?? new ReadableStream({ start: controller => controller.close() }))
    },
    async delete(key) {
      assertKey(key)
      await (await send({ method: 'DELETE', key: base + key, accepts: [404] })).body?.cancel()
    },
    async* list(prefix = '') {
      assertPrefix(prefix)
      let token: string | undefined
      do {
        const query = { 'list-type': '2', 'prefix': base + prefix, ...token !== undefined && { 'continuation-token': token } }
        const xml = await (await send({ method: 'GET', query })).text()
        for (const key of textsOf(xml, 'Key')) yield key.slice(base.length)
        token = textsOf(xml, 'NextContinuationToken')[0]
      } while (token !== undefined)
    },
    removeUnfinished: before => removeUnfinished(send, base, before),
  }
}

/** Sends the first part alone if it is the whole file. */
async function putParts(send: Send, key: string, parts: AsyncGenerator<Uint8Array<ArrayBuffer>>, type: string): Promise<void> {
  const headers = { 'content-type': type }
  const first = await parts.next()
  const second = first.done ? first : await parts.next()
  if (second.done) {
    await finish(await send({ method: 'PUT', key, body: first.done ? new Uint8Array() : first.value, headers }))
    return
  }
  const started = await send({ method: 'POST', key, query: { uploads: '' }, headers })
  const [uploadId] = textsOf(await started.text(), 'UploadId')
  if (uploadId === undefined) throw new Error('[auto-api] The S3 service did not start an upload.')
  try {
    const tags: string[] = []
    const sendPart = async (body: Uint8Array<ArrayBuffer>) => {
      const response = await send({ method: 'PUT', key, query: { partNumber: String(tags.length + 1), uploadId }, body })
      await finish(response)
      tags.push(response.headers.get('etag') ?? '')
    }
    await sendPart(first.value as Uint8Array<ArrayBuffer>)
    await sendPart(second.value)
    for await (const part of parts) await sendPart(part)
    const list = tags.map((tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escape(tag)}</ETag></Part>`).join('')
    const body = new TextEncoder().encode(`<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`)
    const completed = await (await send({ method: 'POST', key, query: { uploadId }, body })).text()
    // The status can be 200 before the service knows whether it succeeds.
    if (completed.includes('<Error>')) throw new Error(`[auto-api] The S3 service did not complete an upload: ${reasonOf(completed)}`)
  }
  catch (error) {
    await send({ method: 'DELETE', key, query: { uploadId }, accepts: [404] }).catch((failure: unknown) => {
      console.error('[auto-api] An unfinished upload to S3 was not removed.', failure)
    })
    throw error
  }
}

async function removeUnfinished(send: Send, base: string, before: Date): Promise<void> {
  const xml = await (await send({ method: 'GET', query: { uploads: '', prefix: base } })).text()
  for (const upload of textsOf(xml, 'Upload')) {
    const [key, uploadId, started] = ['Key', 'UploadId', 'Initiated'].map(name => textsOf(upload, name)[0])
    if (key === undefined || uploadId === undefined || !(new Date(started ?? '') < before)) continue
    await finish(await send({ method: 'DELETE', key, query: { uploadId }, accepts: [404] }))
  }
}

const finish = async (response: Response) => void await response.body?.cancel()

/** Creates the function that signs and sends a request. It repeats a request that the service or the network failed. */
function createSend({ bucket, region, endpoint }: S3Options, credentials: () => S3Credentials): Send {
  const base = endpoint === undefined ? `https://${bucket}.s3.${region}.amazonaws.com` : `${endpoint.replace(/\/$/, '')}/${bucket}`
  // The keys that a day's signatures are derived from.
  const cache = new Map<string, ArrayBuffer>()
  return async ({ method, key, query = {}, body, headers, accepts }) => {
    const url = new URL(key === undefined ? `${base}/` : `${base}/${key}`)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    // With the hash of the body, the service refuses a body that was changed on its way.
    const hash = toHex(await crypto.subtle.digest('SHA-256', body ?? new Uint8Array()))
    const sign = async () => (await new AwsV4Signer({
      ...credentials(), service: 's3', region, cache, method, url: url.href, headers: { ...headers, 'x-amz-content-sha256': hash },
      allHeaders: true,
    }).sign()).headers
    for (let attempt = 1; ; attempt++) {
      const isLast = attempt === ATTEMPTS
      const response = await fetch(url, { method, body, headers: await sign(), signal: AbortSignal.timeout(TIMEOUT), redirect: 'error' })
        .catch((error: unknown) => {
          if (isLast) throw new Error(`[auto-api] The S3 service at ${url.host} did not respond.`, { cause: error })
        })
      if (response?.ok || (response && accepts?.includes(response.status))) return response
      if (response && (isLast || (response.status < 500 && response.status !== 429))) {
        const reason = reasonOf(await response.text().catch(() => ''))
        throw new Error(`[auto-api] The S3 service responded with ${response.status} to ${method}: ${reason}`)
      }
      await response?.body?.cancel()
      await new Promise(resolve => setTimeout(resolve, 100 * 2 ** attempt * Math.random()))
    }
  }
}

const reasonOf = (xml: string) => textsOf(xml, 'Code')[0] ?? 'no reason given'

/** Returns the text of each element with this name. The elements of S3's responses have no attributes and do not nest. */
function textsOf(xml: string, name: string): string[] {
  return xml.split(`<${name}>`).slice(1).map(part => unescape(part.split(`</${name}>`, 1)[0]!))
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: '\'', amp: '&' }

/** The text of an element that contains elements stays as it is. */
const unescape = (text: string) => text.includes('<')
  ? text
  : text.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return ENTITIES[name] ?? whole
      return String.fromCodePoint(decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal))
    })

const escape = (text: string) => text.replace(/[<>&]/g, character => ({ '<': '&lt;', '>': '&gt;', '&': '&amp;' })[character]!)
