/** The 404 of a path below the prefix that neither the API nor the app handles. Only in development, it names the registered resources. */
import { didYouMean } from '../../shared/suggest'
import type { ServerApi } from '../api/create'
import { ApiError, shorten } from '../core/error'
import { printable } from '../core/process/log'
import { decode } from '../schema/record-id'
import { readHttpError } from './platform/http-error'
import { segmentsBelow, sentUrl, type EventWithPath } from './url'

/** Nitro replaces `import.meta.dev` at build time, so that the production build contains no code for development. */
const isDevelopment = import.meta.dev === true

/** The path of an event can have the app's base URL in error handlers, and lack it while Nuxt renders a page. */
type Mounted = Pick<ServerApi, 'mountPath' | 'config'>

const prefixOf = ({ path }: EventWithPath, { mountPath, config }: Mounted): string =>
  path.startsWith(`${mountPath}/`) ? mountPath : config.prefix

/** Whether a request asks for something below the prefix. The prefix itself can be a page of the app. */
export function isBelowPrefix(event: EventWithPath, api: Mounted): boolean {
  const prefix = prefixOf(event, api)
  return event.path.startsWith(`${prefix}/`) && segmentsBelow(prefix, event, sentUrl(event)).length > 0
}

/** Whether the path can be one of these pages. `/*` at the end of a page stands for every path that begins like this. */
export function canBePage({ path }: EventWithPath, pages: readonly string[]): boolean {
  if (pages.length === 0) return false
  const text = path.replace(/[?#].*$/, '').replace(/\/_payload\.js(?:on)?$/, '')
  const asked = `${(decode(text) ?? text).toLowerCase().replace(/\/+$/, '')}/`
  return pages.some(page => page.endsWith('/*') ? asked.startsWith(page.slice(0, -1)) : asked === `${page.replace(/\/$/, '')}/`)
}

/** @param api absent if the API could not be created */
export function unknownPath(event: EventWithPath & { readonly method: string }, api: ServerApi | undefined): ApiError {
  const message = isDevelopment && api
    ? explainUnknownPath(event.method, segmentsBelow(prefixOf(event, api), event, sentUrl(event)), api)
    : 'There is no such route.'
  return new ApiError('NOT_FOUND', message)
}

type Known = Pick<ServerApi, 'appRoutes' | 'config'> & { readonly resources: ReadonlyMap<string, unknown> }

/** Resources that a message lists. */
const MAX_NAMES = 30

/** @param segments of the path below the prefix */
export function explainUnknownPath(
  method: string, segments: readonly string[], { resources, appRoutes, config }: Known,
): string {
  const [name = ''] = segments
  const isOfApp = appRoutes.some(route => route.split('/', 2)[1] === name)
  if (isOfApp || name === '' || name.startsWith('_') || resources.has(name))
    return `There is no route \`${printable(method)} ${show([config.prefix, ...segments].join('/'))}\`.`
  const names = [...resources.keys()]
  const registered = names.length === 0
    ? 'No resource is registered. Create `server/resources/<name>.ts`.'
    : `Registered: ${names.slice(0, MAX_NAMES).map(known => `\`${known}\``).join(', ')}${names.length > MAX_NAMES ? ', …' : '.'}`
  return `\`${show(name)}\` is not a registered resource.${didYouMean(name, names)} ${registered}`
}

const show = (text: string) => printable(shorten(text).replaceAll('`', ''))

/** Whether Nuxt threw the error because no page has the path. */
export function isUnmatchedPage(error: object): boolean {
  const { status, message, statusText } = readHttpError(error)
  return status === 404 && [message, statusText].some(text => typeof text === 'string' && /^page not found: \//i.test(text))
}
