/** The plugins whose routes are measured. */
import { auditLog, dataExport } from 'nuxt-auto-api/plugins'

export default [dataExport({ concurrent: 50 }), auditLog()]
