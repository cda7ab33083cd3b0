/** The types of `useAutoApiForm`. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { ComputedRef, MaybeRefOrGetter, Ref } from 'vue'
import type { DescribedField } from '../../shared/types/description'
import type {
  ChildKey, ChildOf, CreateBody, FieldName, NestedName, NestedRelation, RecordId, RecordOf, ResourceName, ResourceWith, Simplify, UpdateBody,
} from '../../shared/types/resources'
import type { Row } from '../any-resource'
import type { AutoApiError, FormError } from '../error'
import type { SchemaIssue } from './json-schema'
import type { Values } from './values'

/** A resource with records that a form can create or change. */
export type Editable = ResourceWith<'create'> | ResourceWith<'update'>

type Bodies<R extends ResourceName> = CreateBody<R> & UpdateBody<R>

/** Inputs hold dates and large numbers in their wire format. */
type InputValue<V> = [Exclude<V, Date | bigint>] extends [never] ? V : Exclude<V, Date | bigint>

/** The values that the inputs of a form hold. A field without a value is missing, `null` or an empty text. */
export type FormState<R extends ResourceName>
  = Simplify<{ -readonly [K in Exclude<keyof Bodies<R>, NestedRelation<R>>]?: InputValue<Bodies<R>[K]> }>

/** Which children a form edits. */
export type NestedOptions<R extends ResourceName> = {
  readonly [K in NestedName<R>]?: true | NestedOption<FieldName<ChildOf<R, K>>>
}

export interface NestedOption<Field> {
  /**
   * The field with the order of the rows. The form sorts by it, sets it in new rows, and writes it when rows are moved. Without it, the
   * order of moved rows is not stored.
   */
  readonly position?: Field
}

export type FormOptions<R extends Editable, N = Record<never, never>> = FormOptionsOf<FormState<R>, RecordOf<R>> & {
  /**
   * The relations whose children are edited with the record, and sent in the same request. The registration lists them in its option
   * `nested`.
   * @example
   * const { children } = useAutoApiForm('orders', { id, nested: { lines: { position: 'position' } } })
   */
  readonly nested?: N & { readonly [K in Exclude<keyof N, NestedName<R>>]: never }
}

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

export type FormResult<R extends Editable, N = Record<never, never>> = FormResultOf<FormState<R>, RecordOf<R>> & {
  /** The children of the record, by the name of their relation. */
  readonly children: { readonly [K in keyof N & string]: FormChildrenOf<ChildState<R, K>, RecordOf<ChildOf<R, K>>> }
}

/** The values that the inputs of a child hold. The server sets the foreign key. */
type ChildState<R extends ResourceName, K> = Simplify<Omit<FormState<ChildOf<R, K>>, ChildKey<R, K>>>

/** The form of a resource whose name is known only at run time. */
export type AnyFormOptions = FormOptionsOf<Values, Row> & { readonly nested?: Readonly<Record<string, true | NestedOption<string>>> }
export type AnyForm = FormResultOf<Values, Row> & { readonly children: Readonly<Record<string, AnyChildren>> }
export type AnyChildren = FormChildrenOf<Values, Row>
export type AnyChildRow = ChildRow<Values, Row>

/** The children of the record in a form. */
export interface FormChildrenOf<State, Child> {
  /** The rows in their order, with those that the next save deletes. */
  readonly rows: readonly ChildRow<State, Child>[]
  /** The fields that the caller can write, by name, without the foreign key and the position. */
  readonly fields: Readonly<Record<string, DescribedField>>
  /** Whether the caller can add rows. */
  readonly canCreate: boolean
  /** Whether the caller can change the rows of the record. */
  readonly canUpdate: boolean
  /** Whether the caller can delete the rows of the record. */
  readonly canDelete: boolean
  /** The message of a failure that belongs to no row. */
  readonly message: string | undefined
  /** Adds a row at the end. The values override the defaults of the table. */
  readonly add: (values?: State) => ChildRow<State, Child>
  /** Marks a row, so that the next save deletes it. A new row without values disappears at once. */
  readonly remove: (key: string) => void
  /** Undoes `remove`. */
  readonly restore: (key: string) => void
  /** Moves a row to another index of `rows`. */
  readonly move: (from: number, to: number) => void
}

/** A row of a form: a child of the record, or a new one. */
export interface ChildRow<State, Child> {
  /** Stays the same while the form is open. */
  readonly key: string
  /** The id of the child. A new row has none until it is saved. */
  readonly id: RecordId | undefined
  /** The child as it was loaded. */
  readonly record: Child | undefined
  /** The values of the inputs: `v-model="row.values.text"`. */
  readonly values: State
  readonly isNew: boolean
  readonly state: 'new' | 'changed' | 'removed' | 'unchanged'
  /** The messages of the last submit, by field. The messages of a field disappear when its value changes. */
  readonly errors: readonly FormError[]
  /** Returns the first message of a field. */
  readonly errorOf: (name: keyof State & string) => string | undefined
  /** The message of a failure of this row that belongs to no field of the form. */
  readonly message: string | undefined
}

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
