/** The types of `useAutoApiForm`. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { ComputedRef, MaybeRefOrGetter, Ref } from 'vue'
import type { DescribedField } from '../../shared/types/description'
import type { CreateBody, RecordId, RecordOf, ResourceName, ResourceWith, Simplify, UpdateBody } from '../../shared/types/resources'
import type { AutoApiError, FormError } from '../error'
import type { SchemaIssue } from './json-schema'

/** A resource with records that a form can create or change. */
export type Editable = ResourceWith<'create'> | ResourceWith<'update'>

type Bodies<R extends ResourceName> = CreateBody<R> & UpdateBody<R>

/** Inputs hold dates and large numbers in their wire format. */
type InputValue<V> = [Exclude<V, Date | bigint>] extends [never] ? V : Exclude<V, Date | bigint>

/** The values that the inputs of a form hold. A field without a value is missing, `null` or an empty text. */
export type FormState<R extends ResourceName> = Simplify<{ -readonly [K in keyof Bodies<R>]?: InputValue<Bodies<R>[K]> }>

export type FormOptions<R extends Editable> = FormOptionsOf<FormState<R>, RecordOf<R>>

export interface FormOptionsOf<State, Written> {
  /** The record to change. Without an id, the form creates a record. */
  readonly id?: MaybeRefOrGetter<RecordId | null | undefined>
  /** The first values of a new record. They override the defaults of the table. */
  readonly defaults?: MaybeRefOrGetter<State>
  /** A schema of the app that checks the whole state, instead of the schema in the description of the API. */
  readonly schema?: StandardSchemaV1
  /**
   * Sends the tag of the version that the form shows. If somebody else has changed the record, nothing is written, and `conflict` is set.
   * @default true
   */
  readonly ifMatch?: boolean
  /** Translates an issue that the form finds. Without a result, the English message stays. */
  readonly message?: (issue: SchemaIssue) => string | undefined
  /** Runs after the write, when stale queries are refetched. */
  readonly onSuccess?: (record: Written) => unknown
}

export type FormResult<R extends Editable> = FormResultOf<FormState<R>, RecordOf<R>>

export interface FormResultOf<State, Written> {
  /** The values of the inputs: `v-model="state.title"`. */
  readonly state: State
  /** A Standard Schema of the state, for `UForm` and other form libraries. */
  readonly schema: StandardSchemaV1<State, State>
  /** The fields that the caller can write, by name: label, kind, enum and so on. */
  readonly fields: ComputedRef<Readonly<Record<string, DescribedField>>>
  /** The version of the record that the form was opened with; `undefined` in a form for a new record. */
  readonly record: ComputedRef<Written | undefined>
  /** The messages of the last submit, by field. The messages of a field disappear when its value changes. */
  readonly errors: ComputedRef<FormError[]>
  /** Returns the first message of a field. */
  readonly errorOf: (name: keyof State & string) => string | undefined
  /** The message of a failure that belongs to no field of the form. */
  readonly message: ComputedRef<string | undefined>
  /** The failure of the last request: of loading the form, or of the last submit. */
  readonly error: ComputedRef<AutoApiError<Written> | null>
  /** The values that differ from the record, or from the first values of a new record. */
  readonly changes: ComputedRef<State>
  readonly isDirty: ComputedRef<boolean>
  /** Whether the form creates a record. */
  readonly isNew: ComputedRef<boolean>
  /** Whether the values are loaded. */
  readonly isReady: Readonly<Ref<boolean>>
  /** Whether a write is running. */
  readonly isPending: ComputedRef<boolean>
  /** The current record, if somebody else has changed it since the form was opened. */
  readonly conflict: Readonly<Ref<Written | undefined>>
  /**
   * Creates the record, or sends the changed fields. Sends no request if a value is invalid or nothing has changed. Never rejects.
   * @returns the written record, or `undefined` if it was not written
   */
  readonly submit: (event?: unknown) => Promise<Written | undefined>
  /** Discards the changes. */
  readonly reset: () => void
  /** Solves a conflict: writes the changes of the form over the current record. Its other fields keep their current values. */
  readonly overwrite: () => Promise<Written | undefined>
  /** Solves a conflict: discards the changes of the form and shows the current record. */
  readonly takeCurrent: () => void
  /** Waits until the form is loaded. */
  readonly suspense: () => Promise<void>
}
