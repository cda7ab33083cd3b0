/** The options of `dataExport`. */
import { assertNames, assertOptions } from '../../server/plugin/options'
import { FORMATS, type Format } from './server/formats'
import { isCount, positiveInteger, type OptionRules } from '../../shared/option-rule'

export interface DataExportOptions {
  /**
   * The resources that can be exported.
   * @default every registered one
   */
  readonly resources?: readonly string[]
  /**
   * The formats of the file. The first one is the default of a request.
   * @default ['csv', 'json', 'ndjson']
   */
  readonly formats?: readonly Format[]
  /**
   * Maximum number of records in one file. A list with more records is refused with 400 before the first byte.
   * @default 100000
   */
  readonly maxRows?: number
  /**
   * Maximum number of exports that one process runs at a time, and of imports. One caller can have half of them, rounded up. Further ones
   * are refused with 503 and `Retry-After`.
   * @default 2
   */
  readonly concurrent?: number
  /**
   * Maximum number of records in an imported file.
   * @default 10000
   */
  readonly maxImportRows?: number
  /**
   * Maximum size of an imported file in bytes.
   * @default 33554432 (32 MB)
   */
  readonly maxImportSize?: number
  /**
   * Maximum number of JSON values in an imported file: the objects, lists, properties and entries of NDJSON, and of JSON columns in CSV.
   * @default 1000000
   */
  readonly maxImportValues?: number
}

export interface ExportPolicy {
  readonly resources: readonly string[] | undefined
  readonly formats: readonly [Format, ...Format[]]
  readonly maxRows: number
  readonly concurrent: number
  readonly maxImportRows: number
  readonly maxImportSize: number
  readonly maxImportValues: number
}

const isListOfTexts = (value: unknown) => Array.isArray(value) && value.length > 0 && value.every(name => typeof name === 'string')

const RULES: OptionRules<DataExportOptions> = {
  resources: { fits: isListOfTexts, use: 'a list of resources, which is not empty' },
  formats: { fits: isListOfTexts, use: `a list of formats: ${FORMATS.join(', ')}` },
  maxRows: positiveInteger,
  concurrent: positiveInteger,
  maxImportRows: positiveInteger,
  maxImportSize: { fits: isCount, use: 'a number of bytes, a positive integer' },
  maxImportValues: positiveInteger,
}

/** @throws TypeError for an unknown option or an invalid value. */
export function resolveExportPolicy(options: DataExportOptions): ExportPolicy {
  assertOptions(options, RULES, 'dataExport')
  const { resources, formats = FORMATS, maxRows = 100_000, concurrent = 2 } = options
  const { maxImportRows = 10_000, maxImportSize = 32 * 1024 * 1024, maxImportValues = 1_000_000 } = options
  assertNames(formats, FORMATS, 'dataExport.formats')
  return {
    resources, formats: [...new Set(formats)] as [Format, ...Format[]], maxRows, concurrent, maxImportRows, maxImportSize, maxImportValues,
  }
}
