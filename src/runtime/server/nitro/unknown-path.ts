/**
 * Refuses paths below the prefix that nothing handles. Otherwise, an app without pages renders its component for them, with status 200, and
 * a middleware of the app can redirect them. Nuxt renders only what no route, plugin or module handles.
 */
import type { ServerApi } from '../api/create'
import { toUnknownPathError } from '../http/handle'
import type { ApiEvent } from '../http/platform/h3'
import { canBePage, isBelowPrefix } from '../http/unknown-path'
import { pagesBelow } from '../runtime'

interface Rendering {
  readonly event?: ApiEvent
}

/** The hooks before a page is rendered: that of Nitro and that of Nuxt. Not every version calls both. */
export interface RenderHooks {
  readonly hook: (name: 'render:before' | 'render:route', run: (context: Rendering, more?: Rendering) => void) => unknown
}

export function refuseUnknownPaths(hooks: RenderHooks | undefined, api: ServerApi): void {
  const refuse = ({ event }: Rendering, more?: Rendering) => {
    const rendered = event ?? more?.event
    // A preflight request can belong to a handler of the app for another method.
    if (!rendered || rendered.method === 'OPTIONS' || !isBelowPrefix(rendered, api) || canBePage(rendered, pagesBelow)) return
    throw toUnknownPathError(rendered)
  }
  hooks?.hook('render:before', refuse)
  hooks?.hook('render:route', refuse)
}
