/** The parts of the audit log that only the server loads. */
export { entriesFor } from './entries'
export { canReadLog, listEntries, listHistory } from './read'
export { entryCheck } from './records'
export { redactEntries } from './redact'
export { deleteOldEntries } from './retention'
export { revertEntry } from './revert'
export { visibleEntries } from './visible'
