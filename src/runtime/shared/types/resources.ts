/** The types of the registered resources and of their fields in requests and responses. */
import type { NestedAction } from '../nested'
import type { Operation, WRITE_OPERATIONS } from '../operations'

/**
 * The build adds one entry per registered resource: the type of its table, and the names of its hidden and writable fields.
 * @see generateTypes in the build
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- an augmentation fills it
export interface AutoApiResources {}

/** The build adds the module options on which types depend. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- an augmentation fills it
export interface AutoApiSettings {}

/** The build adds the response types of the app's endpoints, by path and method. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- an augmentation fills it
export interface AutoApiEndpoints {}

/** Plugins add what the response to a create has beside the record, by the columns of the table. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type, @typescript-eslint/no-unused-vars -- augmentations fill it
export interface CreatedWith<Columns> {}

export type ResourceName = keyof AutoApiResources & string

/** The id of a record in a path: the value of the key. The values of a composite key are each URL-encoded and joined by commas. */
export type RecordId = string | number

/** The properties of a Drizzle column type that the types in this file use. */
export interface ColumnType {
  readonly _: {
    readonly data: unknown
    readonly dataType: string
    /** Only Drizzle 0.45 has this. */
    readonly columnType?: string
    readonly notNull: boolean
    readonly hasDefault: boolean
  }
}

/** One entry of `AutoApiResources`. */
export interface ResourceType {
  /** The Drizzle table or view. */
  readonly table: { readonly _: object }
  /** Fields that no response contains. */
  readonly hidden: string
  /** Fields that a client can send in a create. */
  readonly create: string
  /** Fields that a client can send in an update. */
  readonly update: string
  /** Fields of `create` that the server sets if the client does not. */
  readonly filled: string
  readonly relations: object
  /** The children that a body can contain: their actions, and their foreign key. */
  readonly nested?: object
  /** Operations that the registration disables. */
  readonly disabled: string
  readonly validation: unknown
  /** The option `wire` of the registration. */
  readonly wire?: unknown
  /** The computed fields of the registration. */
  readonly computed?: unknown
}

type Entry<R extends ResourceName> = AutoApiResources[R] extends infer E extends ResourceType ? E : never

/** The resources that do not disable an operation. */
export type ResourceWith<O extends Operation> = { [R in ResourceName]: O extends DisabledIn<R> ? never : R }[ResourceName]

/** The operations that a resource disables. The resource of a view disables every write. */
export type DisabledIn<R extends ResourceName> = Entry<R>['disabled'] | (Entry<R>['table'] extends ViewType ? WriteOperation : never)

type WriteOperation = typeof WRITE_OPERATIONS[number]

interface TableType { readonly _: { readonly columns: object } }
interface ViewType { readonly _: { readonly selectedFields: object } }

/** The columns of a table, or the columns and expressions that a view selects. */
export type ColumnsIn<T> = T extends TableType ? T['_']['columns']
  : T extends ViewType ? { [K in keyof T['_']['selectedFields']]: ViewColumn<T['_']['selectedFields'][K]> }
    : never

type ViewColumn<F> = F extends ColumnType ? F : F extends { readonly _: { readonly type: infer V } } ? ExpressionColumn<V> : never

/** What the types of a column say, for an expression with values of the type `V`. */
interface ExpressionColumn<V> {
  readonly _: {
    readonly data: NonNullable<V>
    readonly dataType: DataTypeOf<NonNullable<V>>
    readonly notNull: null extends V ? false : true
    readonly hasDefault: false
  }
}

type DataTypeOf<V>
  = V extends number ? 'number'
    : V extends boolean ? 'boolean'
      : V extends string ? 'string'
        : V extends bigint ? 'bigint'
          : V extends Date ? 'date'
            : V extends Uint8Array ? 'buffer'
              : 'json'

/** Columns with the types of computed fields, which can always be null. */
type ComputedIn<F> = {
  readonly [K in keyof F]: F[K] extends { readonly type: infer T, readonly value?: infer V } ? ComputedColumn<T, V> : never
}

interface ComputedColumn<Type, V> {
  readonly _: {
    readonly data: NonNullable<V>
    readonly dataType: Type extends 'decimal' ? 'string numeric' : Type extends 'json' ? 'json' : DataTypeOf<NonNullable<V>>
    readonly notNull: false
    readonly hasDefault: false
  }
}

type ColumnsAndComputed<E extends ResourceType>
  = E extends { readonly computed: infer F } ? ColumnsIn<E['table']> & ComputedIn<F> : ColumnsIn<E['table']>

export type ColumnsOf<R extends ResourceName> = ColumnsAndComputed<Entry<R>>
type ColumnOf<R extends ResourceName, K> = K extends keyof ColumnsOf<R>
  ? ColumnsOf<R>[K] extends infer C extends ColumnType
    ? C
    : never
  : never

/** The names of the fields that a response can contain. */
export type FieldName<R extends ResourceName> = Exclude<keyof ColumnsOf<R>, Entry<R>['hidden']> & string

/**
 * The data type of a column. Drizzle 1.0 adds a constraint, such as `number int32` and `object date`, and gives an array the data type of
 * its elements.
 */
type DataType<C extends ColumnType> = C['_']['data'] extends readonly unknown[] ? 'array' : WithoutConstraint<C['_']['dataType']>

type WithoutConstraint<T extends string>
  = T extends `object ${infer O}` ? O extends 'date' | 'buffer' ? O : 'json'
    : T extends `${infer D} ${string}` ? D : T

/** Drizzle data types whose values are text in JSON. */
type AsText = 'date' | 'bigint' | 'buffer'

export type WireValue<C extends ColumnType> = DataType<C> extends AsText ? string : AsJson<C['_']['data']>

/** The values of custom types and of arrays that are text in JSON. */
type TextValue = Date | bigint | Uint8Array
type AsJson<D>
  = unknown extends D ? D
    : D extends TextValue ? string
      : D extends readonly (infer I)[] ? I extends TextValue ? string[] : D
        : D

type Nullable<C extends ColumnType, V> = C['_']['notNull'] extends true ? V : V | null

/** What `encode` of the option `wire` returns for a column. */
type OwnWire<R extends ResourceName, K> = Entry<R> extends { readonly wire: infer W }
  ? K extends keyof W
    ? NonNullable<W[K]> extends { readonly encode: (value: never) => infer V } ? { readonly value: V } : undefined
    : undefined
  : undefined

export type FieldValue<R extends ResourceName, K> = ColumnOf<R, K> extends infer C extends ColumnType
  ? Nullable<C, OwnWire<R, K> extends { readonly value: infer V } ? V : WireValue<C>>
  : never

/** Computed fields that a response contains only if the request names them. */
type LazyField<R extends ResourceName> = Entry<R> extends { readonly computed: infer F }
  ? { [K in keyof F]: F[K] extends { readonly options: { readonly lazy: true } } ? K : never }[keyof F]
  : never

/** The fields that a response contains if the request names none. */
export type DefaultField<R extends ResourceName> = Exclude<FieldName<R>, LazyField<R>>

/** A record in a response, with all fields. Dates are ISO 8601 text, bigint and decimal are text, and bytes are base64 text. */
export type RecordOf<R extends ResourceName> = { -readonly [K in DefaultField<R>]: FieldValue<R, K> }

/** The kind of a column, which decides its filter operators. */
type KindOf<C extends ColumnType>
  = DataType<C> extends 'json' | 'array' ? 'opaque'
    : DataType<C> extends 'buffer' ? 'bytes'
      : IsTimeText<C> extends true ? 'date'
        : DataType<C> extends 'boolean' ? 'boolean'
          : DataType<C> extends 'number' ? 'number'
            : DataType<C> extends 'date' ? 'date'
              : DataType<C> extends 'bigint' ? C['_']['columnType'] extends 'SQLiteBigInt' ? 'bytes' : 'bigint'
                : DataType<C> extends 'string' ? IsDecimal<C> extends true ? 'decimal' : 'text'
                  : 'custom'

/** A date and a time in `string` mode, which is sent like a `Date`. */
type IsTimeText<C extends ColumnType>
  = C['_']['dataType'] extends 'string timestamp' | 'string datetime' ? true
    : C['_']['columnType'] extends 'PgTimestampString' | 'MySqlDateTimeString' | 'MySqlTimestampString' ? true : false

type IsDecimal<C extends ColumnType>
  = C['_']['dataType'] extends 'string numeric' | 'string unumeric' ? true
    : C['_']['columnType'] extends `${string}${'Numeric' | 'Decimal'}` ? true : false

export type FieldKind<R extends ResourceName, K> = KindOf<ColumnOf<R, K>>

/** The value of a column in a request: the wire format, or a value that the client serializes to the wire format. */
export type SentValue<C extends ColumnType>
  = KindOf<C> extends 'date' ? string | Date
    : DataType<C> extends 'bigint' ? string | number | bigint
      : KindOf<C> extends 'decimal' ? string | number
        : WireValue<C>

export type SentField<R extends ResourceName, K>
  = OwnWire<R, K> extends { readonly value: infer V } ? V : SentValue<ColumnOf<R, K>>

/** The fields whose kind is one of `Kind`. */
export type FieldsOfKind<R extends ResourceName, Kind> = { [K in FieldName<R>]: FieldKind<R, K> extends Kind ? K : never }[FieldName<R>]

/** Fields by which the database can sort and group. */
export type OrderedField<R extends ResourceName> = FieldsOfKind<R, 'text' | 'number' | 'boolean' | 'date' | 'bigint' | 'decimal' | 'custom'>

interface RelationType {
  readonly to: string
  readonly many: boolean
}

export type RelationsOf<R extends ResourceName> = Entry<R>['relations']
export type RelationName<R extends ResourceName> = keyof RelationsOf<R> & string

type RelationOf<R extends ResourceName, N> = N extends keyof RelationsOf<R>
  ? RelationsOf<R>[N] extends infer T extends RelationType
    ? T
    : never
  : never

/** The target resource of a relation. */
export type TargetOf<R extends ResourceName, N> = RelationOf<R, N>['to'] & ResourceName
export type IsMany<R extends ResourceName, N> = RelationOf<R, N>['many']

/** The to-many relations of a resource. They use a foreign key or a junction table. */
export type ToManyName<R extends ResourceName> = { [N in RelationName<R>]: IsMany<R, N> extends true ? N : never }[RelationName<R>]

type CreateName<R extends ResourceName> = Entry<R>['create'] & keyof ColumnsOf<R>
type UpdateName<R extends ResourceName> = Entry<R>['update'] & keyof ColumnsOf<R>

/** Fields that a create requires: not null, without a default, and not set by the server. */
type RequiredName<R extends ResourceName> = {
  [K in CreateName<R>]: ColumnOf<R, K>['_'] extends { notNull: true, hasDefault: false }
    ? K extends Entry<R>['filled']
      ? never
      : K
    : never
}[CreateName<R>]

type SentNullable<R extends ResourceName, K> = Nullable<ColumnOf<R, K>, SentField<R, K>>

type OwnSchema<R extends ResourceName, Part extends string> = Entry<R>['validation'] extends {
  readonly [P in Part]: { readonly '~standard': { readonly types?: { readonly input: infer Input } | undefined } }
}
  ? Input
  : never

type GeneratedCreate<R extends ResourceName> = { [K in RequiredName<R>]: SentNullable<R, K> } & {
  [K in Exclude<CreateName<R>, RequiredName<R>>]?: SentNullable<R, K>
}
type GeneratedUpdate<R extends ResourceName> = { [K in UpdateName<R>]?: SentNullable<R, K> }

/** The body of a create: the input type of the registration's schema. Without a schema, it has the fields that a client can write. */
export type CreateBody<R extends ResourceName> = Simplify<
  ([OwnSchema<R, 'create'>] extends [never] ? GeneratedCreate<R> : OwnSchema<R, 'create'>) & NestedBody<R>
>

/** The body of an update: the input type of the registration's schema. Without a schema, it has the fields that a client can write. */
export type UpdateBody<R extends ResourceName> = Simplify<
  ([OwnSchema<R, 'update'>] extends [never] ? GeneratedUpdate<R> : OwnSchema<R, 'update'>) & NestedBody<R>
>

/** The relations whose children a body can create, update or delete. */
export type NestedName<R extends ResourceName> = {
  [K in keyof NestedOf<R>]: NestedOf<R>[K] extends NestedType
    ? [NestedOf<R>[K]['actions'] & ('create' | 'update' | 'delete')] extends [never] ? never : K
    : never
}[keyof NestedOf<R>] & string

/** The relations whose children or links a body can contain. */
export type NestedRelation<R extends ResourceName> = keyof NestedOf<R> & string

/** The resource of the children of a relation. */
export type ChildOf<R extends ResourceName, K> = NestedPart<R, K, 'to'> & ResourceName

/** The foreign key of the children of a relation. */
export type ChildKey<R extends ResourceName, K> = NestedPart<R, K, 'key'> & string

type NestedOf<R extends ResourceName> = Entry<R> extends { readonly nested: infer N } ? N : Record<never, never>

type NestedPart<R extends ResourceName, K, Part extends keyof NestedType>
  = K extends keyof NestedOf<R> ? NestedOf<R>[K] extends NestedType ? NestedOf<R>[K][Part] : never : never

/** The children and links that a body can contain, by relation. */
type NestedBody<R extends ResourceName> = Entry<R> extends { readonly nested: infer N }
  ? { [K in keyof N]?: N[K] extends NestedType ? NestedWrites<N[K]['to'] & ResourceName, N[K]> : never }
  : unknown

interface NestedType {
  readonly to: string
  readonly actions: string
  readonly key: string
}

/** The server sets the foreign key. */
type NestedWrites<C extends ResourceName, N extends NestedType> = Pick<{
  create?: readonly WithoutKey<CreateBody<C>, N['key']>[]
  update?: readonly { id: RecordId, data: WithoutKey<UpdateBody<C>, N['key']> }[]
  delete?: readonly RecordId[]
  link?: readonly RecordId[]
  unlink?: readonly RecordId[]
}, N['actions'] & NestedAction>

type WithoutKey<Body, Key extends string> = Simplify<Omit<Body, Key> & { [K in Key & keyof Body]?: Body[K] }>

export type Simplify<T> = { [K in keyof T]: T[K] } & {}

/** What plugins add to a record in the response to a create: the intersection of the entries of {@link CreatedWith}. */
type Added<Columns> = { [K in keyof CreatedWith<Columns>]: (added: CreatedWith<Columns>[K]) => void }[keyof CreatedWith<Columns>] extends
(added: infer A) => void ? A : unknown

/** The response to a create: the record and what plugins add to it. */
export type CreatedRecord<R extends ResourceName> = Added<ColumnsOf<R>> extends infer A
  ? unknown extends A ? RecordOf<R> : Simplify<RecordOf<R> & A>
  : never
