/** Writes the JSON text of a large body part by part, so that other requests can run between the parts. */
import { isPlainObject } from '../../shared/is-object'
import { jsonSize } from '../core/process/size'
import { createTurns } from '../core/process/turns'

/** A value of this size is written at once. */
const PART = 64 * 1024

/** Returns the text that `JSON.stringify` makes of an object or a list. */
export async function stringifyInTurns(body: object): Promise<string> {
  const nextTurn = createTurns()
  const parts: string[] = []

  async function write(value: unknown): Promise<void> {
    const isList = Array.isArray(value)
    const isSplit = (isList || isSimple(value)) && jsonSize(value, PART) > PART
    // A list contains `null` instead of values that JSON has no form for. In an object, they are left out before.
    if (!isSplit) return void parts.push(JSON.stringify(value) ?? 'null')
    const waiting = nextTurn()
    if (waiting) await waiting
    parts.push(isList ? '[' : '{')
    let separator = ''
    for (const [name, entry] of Object.entries(value as object)) {
      if (!isList && isLeftOut(entry)) continue
      parts.push(isList ? separator : `${separator}${JSON.stringify(name)}:`)
      await write(entry)
      separator = ','
    }
    parts.push(isList ? ']' : '}')
  }

  await write(body)
  return parts.join('')
}

/** An object with `toJSON` writes itself. */
const isSimple = (value: unknown): value is object => isPlainObject(value) && typeof value.toJSON !== 'function'

const isLeftOut = (value: unknown) => value === undefined || typeof value === 'function' || typeof value === 'symbol'
