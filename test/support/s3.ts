/** A small S3 service on a local port. It refuses requests whose signature of AWS does not match, computed here with Node's own crypto. */
import { createHash, createHmac, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export const S3_KEYS = { accessKeyId: 'AKIALOCAL', secretAccessKey: 'local/secret+key' }
export const S3_REGION = 'eu-central-1'

interface Upload { readonly key: string, readonly parts: Map<number, Buffer>, readonly started: Date }

export interface LocalS3 {
  readonly endpoint: string
  readonly objects: Map<string, { readonly body: Buffer, readonly type: string | undefined }>
  readonly uploads: Map<string, Upload>
  /** Statuses with which the next requests fail, instead of being handled. */
  readonly failures: number[]
  /** The number of requests so far. */
  readonly requests: { count: number }
  readonly close: () => Promise<void>
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

/** @throws The reason why the signature does not match. */
function assertSigned(request: IncomingMessage, body: Buffer): void {
  const header = request.headers.authorization ?? ''
  const [, credential, names, signature] = /^AWS4-HMAC-SHA256 Credential=(\S+), SignedHeaders=(\S+), Signature=(\w+)$/.exec(header) ?? []
  if (!credential || !names || !signature) throw new Error('no signature')
  const [accessKeyId, ...scope] = credential.split('/')
  if (accessKeyId !== S3_KEYS.accessKeyId) throw new Error('unknown key')
  const time = String(request.headers['x-amz-date'])
  if (scope.join('/') !== `${time.slice(0, 8)}/${S3_REGION}/s3/aws4_request`) throw new Error(`scope ${scope.join('/')}`)
  if (!names.split(';').includes('host') || !names.split(';').includes('x-amz-content-sha256')) throw new Error('too few signed headers')
  if (request.headers['x-amz-content-sha256'] !== sha256(body)) throw new Error('the hash of the body differs')
  const [path, query = ''] = request.url!.split('?') as [string, string?]
  const encode = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, found => `%${found.charCodeAt(0).toString(16).toUpperCase()}`)
  const pairs = [...new URLSearchParams(query)].map(([name, value]) => `${encode(name)}=${encode(value)}`).sort()
  const headers = names.split(';').map(name => `${name}:${String(request.headers[name]).trim()}\n`).join('')
  const canonical = [request.method, path, pairs.join('&'), headers, names, sha256(body)].join('\n')
  const text = ['AWS4-HMAC-SHA256', time, scope.join('/'), sha256(canonical)].join('\n')
  const key = scope.reduce<string | Buffer>(hmac, `AWS4${S3_KEYS.secretAccessKey}`)
  if (hmac(key, text).toString('hex') !== signature) throw new Error('the signature does not match')
}

/** @param bucket the only bucket */
export async function startS3(bucket = 'files'): Promise<LocalS3> {
  const objects: LocalS3['objects'] = new Map()
  const uploads: LocalS3['uploads'] = new Map()
  const failures: number[] = []
  const requests = { count: 0 }

  function handle(request: IncomingMessage, body: Buffer, response: ServerResponse): void {
    const url = new URL(request.url!, 'http://localhost')
    const answer = (status: number, content: string | Buffer = '', headers: Record<string, string> = {}) => {
      response.writeHead(status, headers)
      response.end(content)
    }
    const fail = (status: number, code: string) => answer(status, `<Error><Code>${code}</Code></Error>`)
    requests.count++
    const failure = failures.shift()
    if (failure !== undefined) return fail(failure, 'InternalError')
    try {
      assertSigned(request, body)
    }
    catch (error) {
      console.error(error)
      return fail(403, 'SignatureDoesNotMatch')
    }
    if (!url.pathname.startsWith(`/${bucket}/`)) return fail(404, 'NoSuchBucket')
    const key = decodeURIComponent(url.pathname.slice(bucket.length + 2))
    const { searchParams: query } = url
    const uploadId = query.get('uploadId')
    const upload = uploads.get(uploadId ?? '')
    if (uploadId !== null && !upload) return fail(404, 'NoSuchUpload')
    if (request.method === 'GET' && key === '') return query.has('uploads') ? listUploads() : list(query)
    if (request.method === 'GET') return get()
    if (request.method === 'POST' && query.has('uploads')) {
      const id = randomUUID()
      uploads.set(id, { key, parts: new Map(), started: new Date() })
      return answer(200, `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`)
    }
    if (request.method === 'PUT' && upload) {
      upload.parts.set(Number(query.get('partNumber')), body)
      return answer(200, '', { etag: `"${sha256(body)}"` })
    }
    if (request.method === 'POST' && upload) {
      const parts = [...upload.parts].sort(([a], [b]) => a - b).map(([, part]) => part)
      if (parts.slice(0, -1).some(part => part.byteLength < 5 * 1024 * 1024)) return fail(400, 'EntityTooSmall')
      const tags = [...body.toString().matchAll(/<ETag>(.*?)<\/ETag>/g)].map(([, tag]) => tag!.replaceAll('&quot;', '"'))
      if (tags.join() !== parts.map(part => `"${sha256(part)}"`).join()) return fail(400, 'InvalidPart')
      objects.set(key, { body: Buffer.concat(parts), type: undefined })
      uploads.delete(uploadId!)
      return answer(200, '<CompleteMultipartUploadResult></CompleteMultipartUploadResult>')
    }
    if (request.method === 'DELETE' && upload) return uploads.delete(uploadId!), answer(204)
    if (request.method === 'DELETE') return objects.delete(key), answer(204)
    if (request.method === 'PUT') return objects.set(key, { body, type: request.headers['content-type'] }), answer(200)
    return fail(405, 'MethodNotAllowed')

    function get(): void {
      const found = objects.get(key)
      if (!found) return fail(404, 'NoSuchKey')
      const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
      if (start === undefined) return answer(200, found.body)
      answer(206, found.body.subarray(Number(start), Number(end) + 1))
    }

    function list(query: URLSearchParams): void {
      const all = [...objects.keys()].filter(name => name.startsWith(query.get('prefix') ?? '')).sort()
      const from = Number(query.get('continuation-token') ?? 0)
      const next = from + 1000 < all.length ? `<NextContinuationToken>${from + 1000}</NextContinuationToken>` : ''
      answer(
        200,
        `<ListBucketResult>${all
          .slice(from, from + 1000)
          .map(name => `<Contents><Key>${name}</Key></Contents>`)
          .join('')}${next}</ListBucketResult>`,
      )
    }

    function listUploads(): void {
      answer(
        200,
        `<ListMultipartUploadsResult>${[...uploads].map(([id, { key, started }]) => `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${started.toISOString()}</Initiated></Upload>`).join('')}</ListMultipartUploadsResult>`,
      )
    }
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => handle(request, Buffer.concat(chunks), response))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects, uploads, failures, requests,
    close: () => new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    }),
  }
}
