/** Sends a file with its progress. `fetch` does not report the progress of an upload. */
import { shallowRef, type ShallowRef } from 'vue'
import { toAutoApiError } from './error'
import { useRuntimeConfig } from './nuxt'
import { setTag } from './tags'

export interface SendProgress {
  /** Bytes of the file that the server has received. */
  readonly sent: number
  /** Bytes of the file. */
  readonly total: number
}

export interface FileSender {
  /** `undefined` until the first bytes are sent. */
  readonly progress: Readonly<ShallowRef<SendProgress | undefined>>
  /** Sends a file with `POST`. It ends the previous request. @throws AutoApiError */
  readonly send: (path: string, file: Blob, headers: Readonly<Record<string, string>>) => Promise<unknown>
  /** Ends the request. Its promise rejects. */
  readonly cancel: () => void
}

/** Call it in `setup`. The server can render the page, but only browsers can send. */
export function useFileSender(): FileSender {
  const base = useRuntimeConfig().app.baseURL.replace(/\/$/, '')
  const progress = shallowRef<SendProgress>()
  let request: XMLHttpRequest | undefined
  const cancel = () => {
    request?.abort()
    request = undefined
    progress.value = undefined
  }
  return {
    progress,
    cancel,
    send(path, file, headers) {
      cancel()
      const current = request = new XMLHttpRequest()
      current.upload.onprogress = ({ loaded }) => {
        // The last events of a request that was cancelled do not overwrite the progress of the next one.
        if (request === current) progress.value = { sent: Math.min(loaded, file.size), total: file.size }
      }
      return post(current, base + path, file, headers)
    },
  }
}

function post(request: XMLHttpRequest, url: string, file: Blob, headers: Readonly<Record<string, string>>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const fail = (message: string, data?: unknown) => reject(toAutoApiError({ status: request.status, message, data }))
    request.open('POST', url)
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
    request.responseType = 'json'
    request.onload = () => {
      const body: unknown = request.response
      if (request.status >= 400) return fail(request.statusText, body)
      setTag(body, request.getResponseHeader('etag'))
      resolve(body)
    }
    request.onerror = () => fail('The connection broke.')
    request.onabort = () => fail('The request was cancelled.')
    request.send(file)
  })
}
