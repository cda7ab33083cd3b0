/** The public client API: every name here is auto-imported in Vue code, and so is what plugins add. */
export { useAutoApiAggregate, useAutoApiGet, useAutoApiInfinite, useAutoApiList } from './composables/queries'
export { useAutoApiBulkCreate, useAutoApiBulkDelete, useAutoApiBulkUpdate } from './composables/bulk'
export {
  useAutoApiCreate,
  useAutoApiDelete,
  useAutoApiMutation,
  useAutoApiPurge,
  useAutoApiRestore,
  useAutoApiUpdate,
} from './composables/mutations'
export { useAutoApiRelation, useAutoApiRelationAdd, useAutoApiRelationRemove, useAutoApiRelationReplace } from './composables/relations'
export { useAutoApiPermissions, useAutoApiRecordPermissions } from './composables/permissions'
export { useAutoApiSchema } from './composables/schema'
export { useAutoApiForm } from './composables/form'
export { useAutoApiColumns } from './composables/columns'
export { useAutoApiEndpoint } from './composables/endpoint'
export { useAutoApiOptimisticUpdate } from './optimistic'
export { AutoApiError, autoApiFormErrors } from './error'
export { autoApiTag } from './tags'
export type { Column as AutoApiColumn } from './composables/columns'
export type { FormOptions as AutoApiFormOptions, FormResult as AutoApiForm, FormState as AutoApiFormState } from './form/types'
export type {
  CreateBody as AutoApiCreateBody,
  RecordOf as AutoApiRecord,
  ResourceName as AutoApiResource,
  ResourceWith as AutoApiResourceWith,
  UpdateBody as AutoApiUpdateBody,
} from '../shared/types/resources'
export type { ListQuery as AutoApiListQuery } from '../shared/types/query'
export type {
  ApiDescription as AutoApiDescription,
  DescribedField as AutoApiDescribedField,
  DescribedRelation as AutoApiDescribedRelation,
  DescribedResource as AutoApiDescribedResource,
} from '../shared/types/description'
