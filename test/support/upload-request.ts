/** The part of a browser's `XMLHttpRequest` that the composables use, in front of the server of a test. */
import type { ClientServer } from './client-server'

export const uploadRequest = (harness: () => ClientServer) => class {
  status = 0
  statusText = ''
  response: unknown
  responseType = ''
  readonly upload: { onprogress?: (event: { loaded: number }) => void } = {}
  onload?: () => void
  onerror?: () => void
  onabort?: () => void
  private url = ''
  private readonly headers: Record<string, string> = {}
  private aborted = false
  private received?: Headers

  open(_method: string, url: string) {
    this.url = url
  }

  setRequestHeader(name: string, value: string) {
    this.headers[name] = value
  }

  getResponseHeader(name: string) {
    return this.received?.get(name) ?? null
  }

  abort() {
    this.aborted = true
    this.onabort?.()
  }

  async send(file: Blob) {
    harness().requests.push(`POST ${decodeURIComponent(this.url)} ${Object.values(this.headers).join(' ')}`)
    const raw = await file.text()
    this.upload.onprogress?.({ loaded: file.size + 100 })
    if (this.aborted) return
    const { status, body, headers } = await harness().send(this.url, raw, this.headers)
    this.received = headers
    Object.assign(this, { status, statusText: 'Refused', response: body })
    this.onload?.()
  }
}
