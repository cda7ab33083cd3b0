/** The public server utils: exactly these names are auto-imported. */
export { atomicWrites, reportChanges, type ReportedChange, type ReportedChanges } from './atomic'
export { describeApi } from './description'
export { assertPermission, findAuthorizedRow, findAuthorizedRows, getAutoApiContext, rowScope } from './rows'
export { getDatabase, initializeDatabase } from '../database'
export { createEndpoint } from './endpoint'
export { apiError, type ApiErrorOptions } from './error'
export { addContextExtender, addGlobalHook, addResourceHook, registerPermissionEvaluator } from './registrars'
export { purgeSoftDeletedBatch, restoreSoftDeletedBatch } from './trash'
