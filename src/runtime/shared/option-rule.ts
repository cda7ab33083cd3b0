/** Rules for the values of options: of the module and the admin, which the build checks, and of plugins, which check their own. */

export interface OptionRule {
  readonly fits: (value: unknown) => boolean
  /** The valid values, as the end of the sentence "Use …". */
  readonly use: string
  /** Whether the value can be a module import. Only for plugins. */
  readonly code?: true
  readonly required?: true
}

/** One rule for each option, in the order in which messages list them. */
export type OptionRules<Options> = Readonly<Record<keyof Options, OptionRule>>

export const isName = (value: unknown): value is string => typeof value === 'string' && value !== ''

export const isNames = (value: unknown): value is string[] => Array.isArray(value) && value.every(isName)

export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0

export const positiveInteger: OptionRule = { fits: isCount, use: 'a positive integer' }

export const flag: OptionRule = { fits: value => typeof value === 'boolean', use: '`true` or `false`' }
