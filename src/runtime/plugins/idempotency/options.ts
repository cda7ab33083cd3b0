/** The options of `idempotency`. */
import { assertOptions } from '../../server/plugin/options'
import type { OptionRules } from '../../shared/option-rule'

export interface IdempotencyOptions {
  /**
   * How long a key counts: a number with `s`, `m`, `h` or `d`. A key that is older counts as unused.
   * @default '24h'
   */
  readonly ttl?: string
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const DURATION = /^([1-9]\d{0,5})([smhd])$/

/** @returns milliseconds */
function toMilliseconds(duration: unknown): number | undefined {
  const [, count, unit] = (typeof duration === 'string' && DURATION.exec(duration)) || []
  return count === undefined ? undefined : Number(count) * UNITS[unit!]!
}

const RULES: OptionRules<IdempotencyOptions> = {
  ttl: { fits: value => toMilliseconds(value) !== undefined, use: 'a number with s, m, h or d, such as `\'24h\'`' },
}

/**
 * @returns the time in milliseconds that a key counts
 * @throws TypeError for an unknown option or an invalid value.
 */
export function resolveTtl(options: IdempotencyOptions): number {
  assertOptions(options, RULES, 'idempotency')
  return toMilliseconds(options.ttl ?? '24h')!
}
