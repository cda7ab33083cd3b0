/** Checks and encodes the values that a plugin inserts for changed rows. */
import { is, SQL, type Table } from 'drizzle-orm'
import { didYouMean } from '../../../../shared/suggest'
import { INVALID } from '../../../../shared/wire'
import { typeOf } from '../../../drizzle/index'
import type { Engine } from '../../../engines/engine'
import { isTable } from '../../../schema/drizzle/config'
import { describeTable, type TableFacts } from '../../../schema/drizzle/table'
import { createFields } from '../../../schema/fields'
import type { Field } from '../../../schema/field'
import { findForeignKey, findOperand, JSON_OPERANDS, type Operand } from './operand'
import type { InsertOptions } from '../../extensions/changes'
import type { ImageOptions } from './image'
import type { ChangedTable } from './table'
import { memoized } from '../../memoized'
import { boundValue, fromSql } from '../../sql/conditions'
import type { Part } from '../../sql/where'

/** A column of an inserted row: one value for every row, or one value per changed row. */
export interface TargetColumn {
  readonly field: Field
  readonly operand?: Operand
  /** The columns that `foreignId` reads. */
  readonly foreignKey?: readonly Field[]
  /** Whether the column has the type of the tenant column whose values it receives. */
  readonly sameType?: boolean
  readonly value?: Part
}

export interface Target extends ImageOptions {
  readonly table: Table
  readonly name: string
  readonly columns: readonly TargetColumn[]
}

interface Description {
  readonly facts: TableFacts
  readonly fields: ReadonlyMap<string, Field>
  /** The fields that every row must set. */
  readonly required: readonly Field[]
}

const describe = memoized((table: Table): Description => {
  const facts = describeTable(table)
  const fields = createFields(facts)
  const required = [...fields.values()].filter(({ nullable, generated, column }) => !nullable && !generated && column.default === undefined)
  return { facts, fields, required }
})

/** @throws {TypeError} When the values do not fit the table. */
export function toTarget(
  engine: Engine, source: ChangedTable, table: unknown, values: unknown, options: unknown = {},
): Target {
  if (!isTable(table)) throw invalid('the first argument is not a Drizzle table')
  const { facts: { name, dialect }, fields, required } = describe(table)
  if (dialect !== engine.dialect) throw invalid(`the table "${name}" is not a table of this database`)
  if (typeof values !== 'object' || values === null || Array.isArray(values)) throw invalid(`the values for "${name}" are not an object`)
  const given = Object.entries(values).filter(([, value]) => value !== undefined)
  const columns = given.map(([key, value]) => toColumn(engine, source, name, fields, key, value))
  for (const field of required) {
    if (!columns.some(column => column.field === field))
      throw invalid(`the column "${name}.${field.name}" has no value. \`$defaultFn\` does not run here; use \`uuid\` for a new id`)
  }
  return { table, name, columns, ...toImageOptions(source, options) }
}

/** @throws {TypeError} For a name that is no column: a misspelled name would write the values that it should leave out. */
function toImageOptions({ name, row: { byName } }: ChangedTable, options: unknown): ImageOptions {
  const { withoutValues = [], wholeBefore = false, ...rest } = options as InsertOptions
  const [option] = Object.keys(rest)
  if (option !== undefined) throw invalid(`\`${option}\` is not an option.${didYouMean(option, ['withoutValues', 'wholeBefore'])}`)
  const unknown = withoutValues.find(column => !byName.has(column))
  if (unknown !== undefined)
    throw invalid(`\`withoutValues\`: the table "${name}" has no column \`${unknown}\`.${didYouMean(unknown, [...byName.keys()])}`)
  return { withoutValues: new Set(withoutValues), wholeBefore }
}

function toColumn(
  engine: Engine,
  source: ChangedTable,
  table: string,
  fields: ReadonlyMap<string, Field>,
  key: string,
  value: unknown,
): TargetColumn {
  const field = fields.get(key)
  if (!field) throw invalid(`the table "${table}" has no column \`${key}\`.${didYouMean(key, [...fields.keys()])}`)
  const foreignKey = findForeignKey(value)?.map(name => source.row.byName.get(name)!)
  const operand = foreignKey ? 'foreignId' : findOperand(value)
  if (!operand) return { field, value: is(value, SQL) ? fromSql(value) : boundValue(field, value) }
  if (!canContain(field, operand, source))
    throw invalid(`the column "${table}.${key}" cannot contain \`${operand}\` of "${source.name}". Use a column for text`)
  const { tenant } = source
  const sameType = operand === 'tenant' && tenant !== undefined && typeOf(tenant.column) === typeOf(field.column)
  return { field, operand, ...foreignKey && { foreignKey }, sameType }
}

/** Whether the column can contain every value that the operand can have. A column for text or of a custom type can. */
function canContain({ kind }: Field, operand: Operand, { primaryKey, tenant }: ChangedTable): boolean {
  if (JSON_OPERANDS.has(operand)) return kind === 'json' || kind === 'text'
  if (kind === 'text' || kind === 'custom') return true
  if (operand === 'id') return primaryKey.length === 1 && primaryKey[0]!.kind === kind
  return operand === 'tenant' && (!tenant || tenant.kind === kind)
}

/** Converts a value of a changed row to the driver value of the column. @throws {TypeError} When the column cannot contain it. */
export function encodeOperand({ field, operand, sameType }: TargetColumn, value: unknown): unknown {
  if (value === null || value === undefined) return null
  if (sameType && field.kind === 'number') return field.encode(value)
  if (JSON_OPERANDS.has(operand!)) return field.encode(field.kind === 'json' ? value : JSON.stringify(value))
  const converted = field.kind === 'text' || field.kind === 'custom' ? String(value) : field.fromText(String(value))
  if (converted === INVALID) throw invalid(`the column "${field.name}" cannot contain the \`${operand}\` ${JSON.stringify(String(value))}`)
  return field.encode(converted)
}

const invalid = (problem: string) => new TypeError(`[auto-api] insertInto(): ${problem}.`)
