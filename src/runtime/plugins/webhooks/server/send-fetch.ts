/** Sends a request where there is no Node. The platform resolves the name, and its rules decide which addresses can be reached. */
import { MAX_READ, type Transport } from './transport'
import { joinBytes } from '../../../shared/bytes'

export const sendFetch: Transport = async ({ url, headers, body }, _rules, signal) => {
  const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal })
  return { status: response.status, body: new TextDecoder().decode(await readStart(response.body)) }
}

async function readStart(body: ReadableStream<Uint8Array> | null): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = body?.getReader()
  while (reader && size < MAX_READ) {
    const { done, value } = await reader.read()
    if (done) return joinBytes(chunks)
    chunks.push(value.subarray(0, MAX_READ - size))
    size += value.length
  }
  await reader?.cancel()
  return joinBytes(chunks)
}
