/** Converts columns to JSON in SQL, in the form in which the API returns them. Batches cannot convert values in code. */
import { is, sql, SQL } from 'drizzle-orm'
import { typeOf } from '../../../../drizzle/index'
import type { Field } from '../../../../schema/field'

type Convert = (value: SQL, field?: Field) => SQL

const HEX = '0123456789ABCDEF'
const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** A group of bits of the six hexadecimal digits at `i`. */
const digit = (index: number) => sql.raw(`(instr('${HEX}', substr(h, 2 * i + ${index + 1}, 1)) - 1)`)
const letter = (bits: SQL) => sql`substr(${sql.raw(`'${BASE64}'`)}, 1 + (${bits}), 1)`

/** Converts bytes to Base64, three bytes at a time. SQLite has no function for it. */
const base64: Convert = value => sql`(with b(h, l) as materialized (select hex(${value}), length(${value})), n(i) as (
  select 0 from b where l > 0 union all select i + 3 from n, b where i + 3 < l)
  select coalesce(group_concat(t, ''), '') from (select ${letter(sql`(${digit(0)} << 2) | (${digit(1)} >> 2)`)}
  || ${letter(sql`((${digit(1)} & 3) << 4) | ${digit(2)}`)}
  || case when i + 1 < l then ${letter(sql`(${digit(3)} << 2) | (${digit(4)} >> 2)`)} else '=' end
  || case when i + 2 < l then ${letter(sql`((${digit(4)} & 3) << 4) | ${digit(5)}`)} else '=' end as t from n, b order by i))`

/** `quote` keeps every digit of a double, and its result is a JSON number. JSON has no infinity. */
const double: Convert = value => sql`case when abs(${value}) < 9e999 then json(quote(${value})) end`

/** The shortest text of a double that has its value. */
const decimal: Convert = value => sql`case when typeof(${value}) <> 'real' then cast(${value} as text)
  when cast(printf('%.15g', ${value}) as real) = ${value} then printf('%.15g', ${value})
  when cast(printf('%.16g', ${value}) as real) = ${value} then printf('%.16g', ${value}) else printf('%.17g', ${value}) end`

const asText: Convert = value => sql`cast(${value} as text)`

/** `2026-01-31T12:00:00.000Z` */
const time: Convert = (value, field) => {
  const { mode } = field!.column as { mode?: string }
  const ms = sql`cast(${mode === 'timestamp' ? sql`${value} * 1000` : value} as integer)`
  const rest = sql`((${ms} % 1000 + 1000) % 1000)`
  return sql`strftime('%Y-%m-%dT%H:%M:%S', (${ms} - ${rest}) / 1000, 'unixepoch') || printf('.%03dZ', ${rest})`
}

const json: Convert = value => sql`case when json_valid(${value}) then json(${value}) else json_quote(${value}) end`

const BY_TYPE: Readonly<Record<string, Convert>> = {
  SQLiteReal: double,
  SQLiteNumericNumber: double,
  SQLiteNumeric: decimal,
  SQLiteNumericBigInt: asText,
  SQLiteBigInt: asText,
  SQLiteTimestamp: time,
  SQLiteBoolean: value => sql`case when ${value} then json('true') when not ${value} then json('false') end`,
  SQLiteTextJson: json,
  SQLiteBlobJson: value => json(asText(value)),
  SQLiteBlobBuffer: value => sql`case when ${value} is not null then ${base64(value)} end`,
  SQLiteCustomColumn: value => sql`case typeof(${value}) when 'blob' then ${base64(value)}
    when 'real' then ${double(value)} else ${value} end`,
}

/** Converts a stored value. The driver's value of a custom type stays unchanged, because only code can decode it. */
export function wireSql(field: Field, value: SQL): SQL {
  return BY_TYPE[typeOf(field.column)]?.(value, field) ?? value
}

/** The letters, digits and marks that `encodeURIComponent` keeps, as hexadecimal bytes. */
const UNENCODED = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*\'()', letter =>
  letter.charCodeAt(0).toString(16).toUpperCase()).join(',')

/** `encodeURIComponent` in SQL. */
export function encoded(text: SQL): SQL {
  return sql`(with b(h) as materialized (select hex(cast(${text} as blob))), n(i) as (
    select 0 from b where length(h) > 0 union all select i + 1 from n, b where 2 * (i + 1) < length(h))
    select coalesce(group_concat(t, ''), '') from (select case when instr(${sql.raw(`'${UNENCODED}'`)}, substr(h, 2 * i + 1, 2))
    then cast(unhex(substr(h, 2 * i + 1, 2)) as text) else '%' || substr(h, 2 * i + 1, 2) end as t from n, b order by i))`
}

/** The id of a row, as the API returns it. The values of a composite key are encoded and joined with a comma. */
export function idSql(primaryKey: readonly Field[]): SQL {
  const texts = primaryKey.map(field => sql`cast(${wireSql(field, sql`${field.column}`)} as text)`)
  return texts.length === 1 ? texts[0]! : sql.join(texts.map(encoded), sql` || ',' || `)
}

/** The JSON of a value that a change assigns, as the database stores it. */
export function assignedJson(field: Field, driverValue: unknown): string {
  const stored = field.kind === 'decimal' && driverValue !== null ? storedNumber(driverValue) : driverValue
  const wire = field.toWire ? field.toWire(stored) : stored
  return JSON.stringify(ArrayBuffer.isView(wire) ? toBase64(wire) : typeof wire === 'bigint' ? String(wire) : wire ?? null)
}

const toBase64 = ({ buffer, byteOffset, byteLength }: ArrayBufferView) =>
  globalThis.Buffer.from(buffer, byteOffset, byteLength).toString('base64')

/** SQLite stores a number without a fraction as an integer of 64 bits, and other numbers as doubles. */
function storedNumber(value: unknown): unknown {
  const text = String(value).replace(/\.0*$/, '')
  return /^-?\d{1,18}$/.test(text) ? String(BigInt(text)) : Number(value)
}

/** Whether SQL computes the assigned value. */
export const isSql = (value: unknown): value is SQL => is(value, SQL)
