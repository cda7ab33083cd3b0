/** Builds responses. */
export { wireRecords } from '../core/entries/respond'
export { type ApiResponse, bodyWithRevision, createTextResponse, findText, isLarge, type Tagged } from '../core/extensions/response'
