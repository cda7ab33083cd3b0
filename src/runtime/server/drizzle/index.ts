/** The functions of the major version of Drizzle that the app uses. */
import { drizzle } from '#auto-api/drizzle'

export const { schemas, sessions, textOf } = drizzle

export const {
  typeOf, kindOf, sqlTypeOf, tableOf, elementsOf, decoderOf, encode: encodeValue, isConvertedByDialect, nameOf,
} = drizzle.columns
