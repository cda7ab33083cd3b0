/** What the installed plugins offer to clients. Descriptions of the API and the admin tell a caller about the part that they can use. */
import type { AdminFeatures, AdminTool, AdminUsers } from '../../shared/types/admin'
import type { ApiDescription, DescribedResource } from '../../shared/types/description'
import type { Awaitable } from '../core/awaitable'
import { defineService } from '../core/extensions/services'
import type { Session } from '../core/request/session'
import type { Resource } from '../schema/model'
import type { PluginServer } from './server'

/** What a description of the API names. */
export interface PluginFeatures {
  /** `GET /:resource/:id/history`. */
  readonly history?: HistoryFeature
  /** The resource whose records are bearer tokens. */
  readonly tokens?: { readonly resource: string }
  /** The resource whose records are webhooks. */
  readonly webhooks?: { readonly resource: string }
  /** Whether writes with `Idempotency-Key` take effect once. */
  readonly idempotency?: true
  /** Whether requests can be refused with `RATE_LIMITED`. */
  readonly rateLimit?: true
  /** The name of the cookie that contains the session. */
  readonly sessionCookie?: string
}

export interface HistoryFeature {
  /** The resource of the entries. A caller who can read it can read the history of the records that they can read. */
  readonly resource: string
  /** Whether the records of a resource have a history. */
  readonly records: (resource: string) => boolean
}

const FEATURES = defineService<PluginFeatures>('features')

/** Adds to the features of a server. Call it in `setup` of a plugin. */
export const provideFeatures = ({ services }: PluginServer, added: PluginFeatures): void =>
  services.set(FEATURES, { ...services.get(FEATURES), ...added })

/** Returns the features of a server. Complete only after the `setup` of every plugin. */
export const readFeatures = ({ services }: PluginServer): PluginFeatures => services.get(FEATURES) ?? {}

/** What a plugin adds to the admin. The API checks every request again. */
export interface AdminOffer {
  /** Returns what it adds to a resource for the caller. A feature that the caller cannot use is absent. */
  readonly features?: (session: Session, resource: Resource, described: DescribedResource) => Awaitable<AdminFeatures>
  /** The views without a resource, and whether the caller can open them. */
  readonly tools?: Readonly<Record<AdminTool, (session: Session, described: ApiDescription['resources']) => Awaitable<boolean>>>
  /** The resource of the users, and the field with their name. */
  readonly users?: AdminUsers
}

const ADMIN = defineService<readonly AdminOffer[]>('admin')

/** Adds to the admin of a server. Call it in `setup` of a plugin. */
export const provideAdmin = ({ services }: PluginServer, offer: AdminOffer): void =>
  services.set(ADMIN, [...services.get(ADMIN) ?? [], offer])

/** Returns what the plugins of a server add to the admin. Complete only after the `setup` of every plugin. */
export const readAdmin = ({ services }: PluginServer): readonly AdminOffer[] => services.get(ADMIN) ?? []
