/** What the tests must know about the installed version of Nuxt, as one row for each major version. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../once'

interface NuxtVersion {
  /** The names of the status and of its text in the JSON of an error. */
  readonly error: { readonly status: string, readonly text: string }
  /**
   * Whether a built server can get another base URL when it starts, so that its handlers see the client's request. Nuxt 5 needs
   * `experimental.runtimeBaseURL` for it, and sends each request once more inside the server, without the connection.
   */
  readonly hasBaseUrlAtStart: boolean
  /** Whether Nitro sends HEAD to the app's files for GET. Nitro 3 does not. */
  readonly sendsHeadToGet: boolean
  /** Whether `nuxt dev` renders pages. With the nightly of the tests, an app without modules answers 500. */
  readonly rendersInDevelopment: boolean
}

const VERSIONS: Readonly<Record<string, NuxtVersion>> = {
  4: { error: { status: 'statusCode', text: 'statusMessage' }, hasBaseUrlAtStart: true, sendsHeadToGet: true, rendersInDevelopment: true },
  5: { error: { status: 'status', text: 'statusText' }, hasBaseUrlAtStart: false, sendsHeadToGet: false, rendersInDevelopment: false },
}

const { version } = JSON.parse(readFileSync(join(root, 'node_modules/nuxt/package.json'), 'utf8')) as { readonly version: string }

export const NUXT: NuxtVersion = VERSIONS[version.split('.', 1)[0]!]!

/** The body of an error, without its message and data. */
export const errorBody = (status: number, text: string) => ({ error: true, [NUXT.error.status]: status, [NUXT.error.text]: text })
