/** What plugins add to a resource for this caller. */
import type { AdminFeatures, AdminResource } from '../../shared/types/admin'

export const featuresOf = ({ features }: Pick<AdminResource, 'features'>): AdminFeatures => features
