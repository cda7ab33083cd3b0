/** Maps each kind of write to the function that builds its operations. */
import type { WriteKind } from '../plan/write'
import type { BuildOperations } from './build-operations'
import { createOperations } from './create'
import { deleteOperations } from './delete'
import { purgeOperations } from './purge'
import { restoreOperations } from './restore'
import { updateOperations } from './update'

export const OPERATIONS: Readonly<Record<WriteKind, BuildOperations>> = {
  create: createOperations,
  update: updateOperations,
  delete: deleteOperations,
  restore: restoreOperations,
  purge: purgeOperations,
}
