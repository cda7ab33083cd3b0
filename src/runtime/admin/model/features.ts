/** What plugins add to a resource for this caller. */
import type { AdminFeatures, AdminResource } from '../../shared/types/admin'

export const featuresOf = ({ features }: Pick<AdminResource, 'features'>): AdminFeatures => features

/** Whether a field holds files, which forms upload one by one. */
export const isFileField = (resource: AdminResource, field: string): boolean => Object.hasOwn(featuresOf(resource).files ?? {}, field)
