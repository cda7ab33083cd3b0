/** Chooses the form in which the values of a column are sent and accepted. */
import type { Column } from 'drizzle-orm'
import { INVALID, WIRE_FORMATS, type Kind } from '../../shared/wire'
import { elementsOf, typeOf } from '../drizzle/index'
import { isBytesType, isTimeTextType } from '../drizzle/column-types'
import { toStoredTime } from '../drizzle/time-text'
import type { WireConversion } from '../registration'
import type { ColumnFacts } from './drizzle/column'
import { customWire } from './custom-wire'
import { ownWire } from './own-wire'
import { toIsoTime } from './time-text'
import type { Wire } from './wire'

/** @param own the `wire` option of the registration for this column */
export function wireOf(facts: ColumnFacts, own?: WireConversion): Wire {
  if (own) return ownWire(own)
  const elements = elementsOf(facts.column)
  if (!elements) return scalarWire(facts.column, typeOf(facts.column), facts.kind)
  return listWire(scalarWire(elements.column, elements.type, elements.kind), elements.depth)
}

function scalarWire(column: Column, type: string, kind: Kind): Wire {
  if (isTimeTextType(type)) return timeTextWire(column)
  if (isBytesType(type)) return { kind: 'blob', ...WIRE_FORMATS.blob }
  return kind === 'custom' ? customWire(column) : { kind, ...WIRE_FORMATS[kind] }
}

/** Times that Drizzle reads as text have the form of a `Date`, with all digits that the database keeps. */
function timeTextWire(column: Column): Wire {
  const fromText = (text: string) => toStoredTime(text, column)
  return {
    kind: 'date',
    fromJson: value => typeof value === 'string' ? fromText(value) : INVALID,
    fromText,
    toJson: value => value instanceof Date ? value.toISOString() : toIsoTime(String(value)),
  }
}

/** Lists of Postgres, whose items are converted one by one. */
function listWire({ kind, fromJson, toJson }: Wire, depth: number): Wire {
  const { fromText } = WIRE_FORMATS.json
  if (kind === 'json') return { kind, fromJson: value => value, fromText }
  return {
    kind: 'json',
    fromJson(value) {
      let isValid = true
      const converted = eachItem(value, depth, (item) => {
        const own = fromJson(item)
        if (own === INVALID) isValid = false
        return own
      })
      return isValid ? converted : INVALID
    },
    fromText,
    ...toJson && { toJson: value => eachItem(value, depth, toJson) },
  }
}

function eachItem(value: unknown, depth: number, convert: (item: unknown) => unknown): unknown {
  if (value === null || value === undefined) return null
  if (depth === 0) return convert(value)
  return Array.isArray(value) ? value.map(item => eachItem(item, depth - 1, convert)) : value
}
