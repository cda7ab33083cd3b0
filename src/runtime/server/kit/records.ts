/** Lists, reads and writes records of a resource with the rules of the generated routes. */
export { listRecords } from '../core/entries/list-records'
export type { SaveCounts, SaveRecords } from '../core/entries/save'
export { type OpenedList, type OpenList, scanList, type ScannedColumn, type ScannedColumns, type ScannedRecord } from '../core/entries/scan'
export { updateRecord } from '../core/entries/update-record'
export type { UpdateRow } from '../core/entries/update-row'
export { findRecords, findRows } from '../core/entries/records-by-id'
export { readPage } from '../core/entries/read-page'
