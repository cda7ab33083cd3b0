/** Requests to the development server. */
import type { DevtoolsAccess, DevtoolsResource, RecordedRequest } from '../shared/devtools'
import type { Explanation } from '../shared/explanation'
import { baseOf } from './paths'

export const base = baseOf(location.pathname)

export interface KnownResources {
  /** The prefix of the API, such as `/api`. */
  readonly prefix: string
  readonly resources: readonly DevtoolsResource[]
}

export interface ExplainRequest {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly as?: string
}

/** @param as the text of a caller, empty for the one of this browser */
const toCaller = (as: string) => as === '' ? {} : { as }

export const fetchResources = () => send<KnownResources>('GET', 'devtools/resources')

export const fetchAccess = (as: string) => send<DevtoolsAccess>('POST', 'devtools/access', toCaller(as))

export const fetchRequests = () => send<readonly RecordedRequest[]>('GET', 'devtools/requests')

export const clearRequests = () => send<object>('DELETE', 'devtools/requests')

export const fetchExplanation = ({ as = '', ...request }: ExplainRequest) =>
  send<Explanation>('POST', 'explain', { ...request, ...toCaller(as) })

/** @throws With the message of the server. */
async function send<T>(method: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(`${base}/_auto-api/${path}`, {
    method, ...body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } },
  }).catch(() => {
    throw new Error('The development server does not answer.')
  })
  const text = await response.text()
  const content = parseJson(text)
  if (!response.ok) {
    const { message } = (content ?? {}) as { readonly message?: string }
    throw new Error(message || `The development server has answered ${response.status} ${response.statusText}.`)
  }
  if (content === undefined && text !== '') throw new Error('The development server has not answered with JSON.')
  return content as T
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  }
  catch {
    return undefined
  }
}

/**
 * Opens a file in the editor, by Vite.
 * @param place `server/resources/posts.ts:14`, relative to the folder of the app
 */
export async function openInEditor(place: string): Promise<void> {
  const { rootDir } = await send<{ readonly rootDir: string }>('GET', 'app')
  const file = isAbsolute(place) ? place : `${rootDir}/${place}`
  await fetch(`${import.meta.env.BASE_URL}__open-in-editor?file=${encodeURIComponent(file)}`)
}

const isAbsolute = (path: string) => /^(?:\/|[a-z]:)/i.test(path)
