/** The part of the admin that the caller can use: the response of `GET /_admin`, and the view of the current path. */
import { computed, type ComputedRef, type Ref } from 'vue'
import type { AdminAccess, AdminResource } from '../shared/types/admin'
import { prefix } from '../app/nuxt'
import { toTools } from './model/tools'
import { adminPrefix, createError, useRequestFetch, useRoute, useState } from './nuxt'
import { parseSegments, toSegments, type AdminView } from './routes'

/** Shared by the middleware and the pages. The server sends it to the browser with the page. */
export const useAccessState = (): Ref<AdminAccess | undefined> => useState<AdminAccess | undefined>('auto-admin', () => undefined)

/** Requests what the caller can use. On the server, the request has the headers of the page's request. */
export function useAccessRequest(): () => Promise<AdminAccess> {
  const fetch = useRequestFetch() as unknown as (path: string, options: object) => Promise<AdminAccess>
  return () => fetch(`${prefix}/_admin`, { retry: 0 })
}

interface Location { readonly params: Readonly<Record<string, string | readonly string[] | undefined>> }

/** Returns the view of a location, or `undefined` if it does not exist for the caller. */
export function viewOf(location: Location, access: AdminAccess): AdminView | undefined {
  return parseSegments(segmentsOf(location), { ...access, tools: toTools(access.tools) })
}

/** Returns the decoded segments below the prefix. */
export function segmentsOf({ params: { path = [] } }: Location): readonly string[] {
  return typeof path === 'string' ? [path] : path
}

/** Returns the path of a view in the app. */
export const toAdminPath = (view: AdminView): string => adminPrefix + toSegments(view)

export interface Admin {
  /** What the caller can use. Everything else does not exist for the pages of the admin. */
  readonly access: ComputedRef<AdminAccess>
  /** The view of the current path; `undefined` while the app leaves the admin. */
  readonly view: ComputedRef<AdminView | undefined>
  /** Returns a resource; `undefined` if the caller cannot use it. */
  readonly resource: (name: string) => AdminResource | undefined
  /** Returns the path of a view, for links. */
  readonly to: (view: AdminView) => string
}

/**
 * Returns what the caller can use in the admin.
 * @throws 403 if the middleware of the admin did not run
 */
export function useAdmin(): Admin {
  const state = useAccessState()
  const route = useRoute()
  if (!state.value) throw createError({ status: 403, statusText: 'Forbidden', fatal: true })
  const access = computed(() => state.value!)
  return {
    access,
    view: computed(() => viewOf(route as unknown as Location, access.value)),
    resource: name => Object.hasOwn(access.value.resources, name) ? access.value.resources[name] : undefined,
    to: toAdminPath,
  }
}
