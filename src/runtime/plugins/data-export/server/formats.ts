/** The formats of an exported file: media type, and how records become text. */
import { INCOMPLETE, JSON_END } from '../shared/failure'
import type { ScannedColumns, ScannedRecord } from '../../../server/kit/records'
import { createCsvWriter, type CsvOptions } from './csv'

export const FORMATS = ['csv', 'json', 'ndjson'] as const

export type Format = typeof FORMATS[number]

/** Writes one file. */
export interface FileWriter {
  /** The text before the first record. */
  readonly begin: string
  /** @param isFirst whether it is the first record of the file */
  readonly record: (record: ScannedRecord, isFirst: boolean) => string
  /** The text after the last record. */
  readonly end: string
  /** The text after the last record of a file that cannot be completed. No parser of the format accepts the file then. */
  readonly failure: string
}

export interface CsvFileOptions extends CsvOptions {
  /** Whether the file begins with a byte order mark, by which old spreadsheets recognize UTF-8. */
  readonly bom: boolean
}

export const CSV_TYPE = 'text/csv'
export const NDJSON_TYPE = 'application/x-ndjson'

interface FormatFacts {
  readonly mediaType: string
  /** @throws `INVALID_QUERY` if the format cannot contain the columns. */
  readonly createWriter: (columns: ScannedColumns, options: CsvFileOptions) => FileWriter
}

export const FORMAT_FACTS: Readonly<Record<Format, FormatFacts>> = {
  csv: {
    mediaType: CSV_TYPE,
    createWriter: (columns, { bom, ...options }) => {
      const { header, line } = createCsvWriter(columns, options)
      return { begin: bom ? `\uFEFF${header}` : header, record: line, end: '', failure: INCOMPLETE }
    },
  },
  json: {
    mediaType: 'application/json',
    createWriter: () => ({
      begin: '[',
      record: (record, isFirst) => isFirst ? JSON.stringify(record) : `,\n${JSON.stringify(record)}`,
      end: JSON_END,
      failure: '',
    }),
  },
  ndjson: {
    mediaType: NDJSON_TYPE,
    createWriter: () => ({ begin: '', record: record => `${JSON.stringify(record)}\n`, end: '', failure: INCOMPLETE }),
  },
}
