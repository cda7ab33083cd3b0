/** The options of `batch`. */
import { assertOptions } from '../../server/plugin/options'
import { positiveInteger, type OptionRules } from '../../shared/option-rule'

export interface BatchOptions {
  /**
   * Maximum number of steps in one batch. A larger batch is refused with 400 `LIMIT_EXCEEDED`.
   * @default 100
   */
  readonly maxSteps?: number
}

const RULES: OptionRules<BatchOptions> = { maxSteps: positiveInteger }

/** @throws If an option is unknown or a value is invalid. */
export function resolveBatchOptions(options: BatchOptions): Required<BatchOptions> {
  assertOptions(options, RULES, 'batch')
  return { maxSteps: options.maxSteps ?? 100 }
}
