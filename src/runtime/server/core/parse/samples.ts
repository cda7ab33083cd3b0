/** Values that stand in for those that are not known when a body is validated. */
import { INVALID, type Field } from '../../schema/field'

/** One of them fits each type that a key can have. */
const SAMPLES: readonly unknown[] = [
  1, '00000000-0000-4000-8000-000000000000', '1', 'a', '2000-01-01T00:00:00.000Z', '2000-01-01', '1.5', true,
]

/** A JSON value that the field accepts. */
export const sampleOf = ({ fromJson }: Field): unknown => SAMPLES.find(sample => fromJson(sample) !== INVALID)
