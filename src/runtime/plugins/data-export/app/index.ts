/** Composables for exports and imports. */
export { useAutoApiExport } from './export'
export { useAutoApiImport } from './import'
