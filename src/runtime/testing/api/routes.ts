/** The handlers of the generated routes, by their path below the prefix. */
import type { PATHS } from '../../shared/routes'
import aggregate from '../../server/routes/aggregate'
import bulk from '../../server/routes/bulk'
import bulkRestore from '../../server/routes/bulk-restore'
import collection from '../../server/routes/collection'
import m2mDetect from '../../server/routes/m2m-detect'
import m2mIsJunction from '../../server/routes/m2m-is-junction'
import m2mJunctions from '../../server/routes/m2m-junctions'
import permissions from '../../server/routes/permissions'
import record from '../../server/routes/record'
import relation from '../../server/routes/relation'
import relations from '../../server/routes/relations'
import resourcePermissions from '../../server/routes/resource-permissions'
import restore from '../../server/routes/restore'
import schema from '../../server/routes/schema'

/** As the build of an app mounts them. */
export const HANDLERS: Readonly<Record<keyof typeof PATHS, typeof collection>> = {
  '/:resource': collection,
  '/:resource/aggregate': aggregate,
  '/:resource/permissions': resourcePermissions,
  '/:resource/bulk': bulk,
  '/:resource/bulk/restore': bulkRestore,
  '/:resource/:id': record,
  '/:resource/:id/restore': restore,
  '/:resource/:id/relations/:relation': relation,
  '/:resource/:id/relations': relations,
  '/permissions': permissions,
  '/_schema': schema,
  '/_m2m/junctions': m2mJunctions,
  '/_m2m/is-junction/:table': m2mIsJunction,
  '/_m2m/detect/:name': m2mDetect,
}
