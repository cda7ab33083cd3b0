/** Chooses the platform. No other file asks for a version. */
import type { Platform } from './contract'
import { h3v1 } from './h3-1'
import { h3v2 } from './h3-2'

export type { ErrorResponse, HttpEvent, NodeResponse, Platform } from './contract'

/** In h3 2, `event.req` is a web request. In h3 1, it is Node's request, whose headers are a plain object. */
export function platformOf(event: object): Platform {
  const { req } = event as { readonly req?: { readonly headers?: { readonly get?: unknown } } }
  return (typeof req?.headers?.get === 'function' ? h3v2 : h3v1) as Platform
}

/** @param nitro the argument of a Nitro plugin, which has no event. Only Nitro 2 has `h3App`. */
export function platformOfNitro(nitro: object): Platform {
  return ('h3App' in nitro ? h3v1 : h3v2) as Platform
}
