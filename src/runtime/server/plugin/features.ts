/** What the installed plugins offer to clients, as data. The admin shows a caller the part that they can use. */
import { defineService } from '../core/extensions/services'
import type { PluginServer } from './server'

export interface PluginFeatures {
  /** `resources` is undefined if the feature exists for every resource. */
  readonly export?: {
    readonly resources: readonly string[] | undefined
    readonly formats: readonly ('csv' | 'json' | 'ndjson')[]
    readonly gate: string
  }
  readonly files?: readonly FileFeature[]
  readonly auditLog?: AuditLogFeature
  /** The permission of the feed, and the resource of the users with the field of their name. */
  readonly activity?: { readonly permission: string, readonly actor: { readonly resource: string, readonly label: string } }
  /** The resource of the API tokens. */
  readonly tokens?: { readonly resource: string }
  /** Whether writes with `Idempotency-Key` take effect once. */
  readonly idempotency?: true
  /** Whether requests can be refused with `RATE_LIMITED`. */
  readonly rateLimit?: true
  /** The name of the cookie that contains the session. */
  readonly sessionCookie?: string
}

export interface AuditLogFeature {
  /** The resource of the entries. */
  readonly resource: string
  /** Whether the log records the changes of a resource. */
  readonly records: (resource: string) => boolean
}

export interface FileFeature {
  readonly resource: string
  readonly field: string
  readonly accepted: readonly string[]
  readonly maxSize: number
  readonly multiple: boolean
}

const FEATURES = defineService<PluginFeatures>('features')

/** Adds to the features of a server. Call it in `setup` of a plugin. */
export const provideFeatures = ({ services }: PluginServer, added: PluginFeatures): void =>
  services.set(FEATURES, { ...services.get(FEATURES), ...added })

/** Returns the features of a server. Complete only after the `setup` of every plugin. */
export const readFeatures = ({ services }: PluginServer): PluginFeatures => services.get(FEATURES) ?? {}
