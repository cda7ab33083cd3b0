/** What plugins add to a resource for this caller. */
import type { AdminResource } from '../../../shared/types/admin'

export interface Features {
  readonly exportFormats?: readonly string[]
  readonly import?: boolean
  readonly history?: boolean
  readonly files?: Readonly<Record<string, { readonly accept?: readonly string[], readonly multiple?: boolean, readonly maxSize?: number }>>
  readonly tokens?: boolean
}

export const featuresOf = (resource: AdminResource): Features => (resource as AdminResource & { features?: Features }).features ?? {}

/** Whether a field holds files, which forms upload one by one. */
export const isFileField = (resource: AdminResource, field: string): boolean => Object.hasOwn(featuresOf(resource).files ?? {}, field)
