/** The description of the API for one caller: the response of `GET /_schema` and the result of `describeApi`. It contains no rows. */
import type { NestedAction } from '../nested'
import type { ColumnRole } from '../column-roles'
import type { OperatorName } from '../operators'
import type { Kind } from '../kinds'

/** A JSON Schema (draft 2020-12). */
export interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly [keyword: string]: unknown
}

export interface ApiDescription {
  /** The resources with at least one operation that the caller can use, by name. */
  readonly resources: Readonly<Record<string, DescribedResource>>
  readonly limits: DescribedLimits
}

export interface DescribedResource {
  /** `metadata.label` of the registration, or the name as words. */
  readonly label: string
  readonly capabilities: DescribedCapabilities
  /** The names of the key columns, in key order. Empty if the caller can neither read nor write one of them. */
  readonly primaryKey: readonly string[]
  /** The columns that the caller can read or write, by name, in the order of the table. Hidden columns are never included. */
  readonly fields: Readonly<Record<string, DescribedField>>
  /** The relations that the caller can include or change, by name. */
  readonly relations: Readonly<Record<string, DescribedRelation>>
  /**
   * The JSON Schemas of the request bodies. A schema is absent if the caller cannot use the operation, or if the app's own schema has no
   * JSON Schema.
   */
  readonly validation: { readonly create?: JsonSchema, readonly update?: JsonSchema }
  /** Whether each row belongs to a tenant. The server sets the tenant of a new row. */
  readonly tenantScoped: boolean
  /** Absent if deletes are permanent. */
  readonly trash?: DescribedTrash
  /** Set if the rows are those of a view, which no caller can write. */
  readonly readOnly?: true
  /** `metadata` of the registration, without `label` and `fields`. */
  readonly metadata: Readonly<Record<string, unknown>>
}

/** Whether the caller can use each operation. */
export interface DescribedCapabilities {
  readonly canRead: boolean
  readonly canCreate: boolean
  readonly canUpdate: boolean
  readonly canDelete: boolean
  readonly canAggregate: boolean
  readonly canRestore: boolean
  readonly canPurge: boolean
  readonly canViewDeleted: boolean
}

export interface DescribedField {
  /** `metadata.fields.<name>.label` of the registration, or the name as words. */
  readonly label: string
  /** The wire format of the values. */
  readonly kind: Kind
  readonly nullable: boolean
  /** Whether responses contain the field. */
  readonly readable: boolean
  /** Set if responses contain the field only if `fields` names it. */
  readonly lazy?: true
  /** Whether the body of a create or of an update can set the field. */
  readonly writable: { readonly create: boolean, readonly update: boolean }
  /** Whether the body of a create must set the field. */
  readonly required: boolean
  /** Whether the database or the server sets a value if the body of a create does not. */
  readonly hasDefault: boolean
  /** The constant that the table sets if the body of a create leaves the field out. Absent for values that are computed. */
  readonly default?: unknown
  readonly primaryKey: boolean
  /** The role of a column that the server maintains. */
  readonly role?: ColumnRole | 'tenant'
  /** The only values that the column accepts. */
  readonly enum?: readonly string[]
  /** The column that a foreign key references. Present if the caller can read it. */
  readonly references?: DescribedReference
  /** The filter operators of the field. */
  readonly operators: readonly OperatorName[]
  /** Whether lists can be sorted, and aggregates grouped, by the field. */
  readonly sortable: boolean
  /** Whether `$like` finds text in the field. */
  readonly searchable: boolean
  /** The aggregate functions of the field. */
  readonly aggregates: readonly AggregateFunction[]
  /** `metadata.fields.<name>` of the registration, without `label`. */
  readonly metadata: Readonly<Record<string, unknown>>
}

export type AggregateFunction = 'count' | 'sum' | 'avg' | 'min' | 'max'

export interface DescribedReference {
  readonly resource: string
  readonly field: string
  /** The relation over this foreign key. Present if the caller can include it. */
  readonly relation?: string
}

export interface DescribedRelation {
  /** The name as words. */
  readonly label: string
  readonly kind: 'one' | 'many' | 'manyToMany'
  readonly target: string
  /** Whether `include` and the relation route can read the related records. */
  readonly includable: boolean
  /** Whether `filter` accepts conditions on the related records, and `sort` the fields of one record or the number of several. */
  readonly filterable: boolean
  /** Whether `counts` can name the relation. */
  readonly countable: boolean
  /** How the caller can change the links of a many-to-many relation. Absent for other relations. */
  readonly linkable?: { readonly add: boolean, readonly remove: boolean, readonly replace: boolean }
  /** What the body of a create or an update can do with the related records. Absent if it can contain none. */
  readonly nested?: readonly NestedAction[]
}

export interface DescribedTrash {
  /** Whether a delete also moves the dependents of the row to the trash. */
  readonly cascade: boolean
  /** Whether a delete can have a reason. */
  readonly reason: boolean
  /** Days after which a row in the trash is purged. */
  readonly retentionDays?: number
}

/** Maximum sizes of requests and responses. */
export interface DescribedLimits {
  readonly pagination: { readonly default: 'offset' | 'cursor', readonly defaultLimit: number, readonly maxLimit: number }
  readonly include: { readonly maxDepth: number, readonly maxIncludes: number }
  /** `extended` tells whether `$and`, `$or` and `$not` combine conditions at any level. Otherwise there is one `$or`, at the top. */
  readonly filter: {
    readonly extended: boolean
    readonly conditions: number
    readonly or: number
    readonly in: number
    readonly likes: number
  }
  readonly sort: number
  readonly aggregates: { readonly enabled: boolean, readonly functions: number, readonly groupBy: number }
  readonly bulk: { readonly enabled: boolean, readonly items: number, readonly transactional: boolean }
  /** Bytes of a JSON body. */
  readonly body: number
}
