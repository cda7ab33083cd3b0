/** The types of the steps of a batch. */
import type { CreateBody, DisabledIn, RecordId, ResourceName, UpdateBody } from '../../../shared/types/resources'

/** A field of the record that the earlier step named `as` answers. */
export interface RecordReference {
  readonly $ref: string
}

/** A body in which each value can be a reference. */
type Referring<Body> = { readonly [K in keyof Body]: Body[K] | RecordReference }

interface Existing {
  readonly id: RecordId | RecordReference
  /** The entity tag that the record must have. */
  readonly ifMatch?: string
}

interface Named {
  /** The name by which later steps refer to the record. */
  readonly as?: string
}

interface StepsOn<R extends ResourceName> {
  create: { readonly resource: R, readonly operation: 'create', readonly data: Referring<CreateBody<R>> } & Named
  update: { readonly resource: R, readonly operation: 'update', readonly data: Referring<UpdateBody<R>> } & Existing & Named
  delete: { readonly resource: R, readonly operation: 'delete' } & Existing
  restore: { readonly resource: R, readonly operation: 'restore' } & Existing & Named
}

/** A step of a batch: a write of one record. */
export type AutoApiBatchStep = {
  [R in ResourceName]: { [O in keyof StepsOn<R>]: O extends DisabledIn<R> ? never : StepsOn<R>[O] }[keyof StepsOn<R>]
}[ResourceName]
