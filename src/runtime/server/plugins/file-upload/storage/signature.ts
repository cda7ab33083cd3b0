/** Signs requests to S3 with AWS Signature Version 4. It uses Web Crypto, which Node and workers have. */

export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** The token of temporary credentials. */
  readonly sessionToken?: string
}

export interface UnsignedRequest {
  readonly method: string
  /** Its path must consist of characters that need no encoding. */
  readonly url: URL
  readonly body?: Uint8Array<ArrayBuffer>
  readonly headers?: Readonly<Record<string, string>>
}

const encoder = new TextEncoder()

/** Returns the headers of the signed request. The signature covers the method, the path, the query, these headers and the body. */
export async function signRequest(
  { method, url, body, headers = {} }: UnsignedRequest, region: string, credentials: S3Credentials, now = new Date(),
): Promise<Record<string, string>> {
  const time = now.toISOString().replace(/[:-]|\.\d{3}/g, '')
  const bodyHash = toHex(await crypto.subtle.digest('SHA-256', body ?? new Uint8Array()))
  const signed: Record<string, string> = {
    ...headers,
    'x-amz-content-sha256': bodyHash,
    'x-amz-date': time,
    ...credentials.sessionToken ? { 'x-amz-security-token': credentials.sessionToken } : {},
  }
  const all = Object.entries({ ...signed, host: url.host }).sort(([a], [b]) => a < b ? -1 : 1)
  const names = all.map(([name]) => name).join(';')
  const canonical = [
    method, url.pathname, canonicalQuery(url.searchParams),
    ...all.map(([name, value]) => `${name}:${value.trim().replace(/\s+/g, ' ')}`), '', names, bodyHash,
  ].join('\n')
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`
  const text = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${toHex(await crypto.subtle.digest('SHA-256', encoder.encode(canonical)))}`
  let key: BufferSource = encoder.encode(`AWS4${credentials.secretAccessKey}`)
  for (const part of scope.split('/')) key = await hmac(key, part)
  const signature = toHex(await hmac(key, text))
  const authorization = `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`
  return { ...signed, authorization }
}

function canonicalQuery(query: URLSearchParams): string {
  return [...query].map(([name, value]) => [encode(name), encode(value)] as const)
    .sort(([a, x], [b, y]) => a === b ? (x < y ? -1 : 1) : a < b ? -1 : 1)
    .map(pair => pair.join('=')).join('&')
}

/** Encodes as RFC 3986: `encodeURIComponent` leaves out five characters. */
const encode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)

async function hmac(secret: BufferSource, text: string): Promise<ArrayBuffer> {
  const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return crypto.subtle.sign('HMAC', key, encoder.encode(text))
}

const toHex = (bytes: ArrayBuffer) => [...new Uint8Array(bytes)].map(byte => byte.toString(16).padStart(2, '0')).join('')
