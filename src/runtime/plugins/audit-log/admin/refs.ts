/** The records and the users whose names the audit log shows. */
import type { RecordRef } from '../../../admin/model/record-names'
import type { AuditEntry } from '../shared/types'

export const refsOf = (entries: readonly AuditEntry[], users: string | undefined): RecordRef[] =>
  entries.flatMap(({ resource, recordId, userId }) => [
    ...recordId === null ? [] : [{ resource, id: recordId }],
    ...userId === null || users === undefined ? [] : [{ resource: users, id: userId }],
  ])
