/** The form of values that a registration defines with `wire: { encode, decode }`. */
import { isDeepStrictEqual } from 'node:util'
import { INVALID } from '../../shared/wire'
import type { WireConversion } from '../registration'
import type { Wire } from './wire'

export function ownWire({ encode, decode }: WireConversion): Wire {
  // The values of a column fit the function of this column.
  const toJson = encode as (value: unknown) => unknown
  const fromJson = (json: unknown): unknown => {
    try {
      const value: unknown = decode(json)
      return value === undefined || value === null ? INVALID : value
    }
    catch {
      return INVALID
    }
  }
  return {
    kind: 'custom',
    fromJson,
    // Text of a query can stand for a number, a boolean or an object. The right one is that from which the value makes the same JSON.
    fromText(text) {
      const candidates = [text, parsed(text)].filter(candidate => candidate !== undefined)
      const values = candidates.map(fromJson)
      const isExact = (value: unknown, index: number) => value !== INVALID && isDeepStrictEqual(toJson(value), candidates[index])
      return values.find(isExact) ?? values.find(value => value !== INVALID) ?? INVALID
    },
    toJson,
  }
}

/** The JSON of a text, or `undefined` if the text is no JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  }
  catch {
    return undefined
  }
}
