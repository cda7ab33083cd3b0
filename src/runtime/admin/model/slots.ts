/** What plugins add to the views of the admin. A component is loaded when a view shows it for the first time. */
import { defineAsyncComponent, type Component } from 'vue'
import type { AdminAccess, AdminPartOptions, AdminResource } from '../../shared/types/admin'
import { useMessages } from './messages'
import { parts } from './nuxt'

/** The component itself instead of its path. */
type Loaded<P> = P extends unknown ? Omit<P, 'component'> & { readonly component: Component } : never
type Part = Loaded<AdminPartOptions>
type OverviewPart = Extract<Part, { slot: 'overview' }>
type ResourcePart = Exclude<Part, OverviewPart>

const PARTS = parts.map(({ load, ...part }) => ({ ...part, component: defineAsyncComponent(load) }) as Part)
const OF_OVERVIEW = PARTS.filter((part): part is OverviewPart => part.slot === 'overview')
const OF_RESOURCES = PARTS.filter((part): part is ResourcePart => part.slot !== 'overview')

/** Returns the parts of the overview that the caller can use. */
export const overviewParts = ({ tools }: Pick<AdminAccess, 'tools'>): OverviewPart[] =>
  OF_OVERVIEW.filter(({ tool }) => tools.includes(tool))

/** Returns the parts of a resource that the caller can use. */
export const resourceParts = <S extends ResourcePart['slot']>(slot: S, { features }: AdminResource): Extract<ResourcePart, { slot: S }>[] =>
  OF_RESOURCES.filter(part => part.features.some(name => Object.hasOwn(features, name)))
    .filter((part): part is Extract<ResourcePart, { slot: S }> => part.slot === slot)

const TAB_LABELS = Object.fromEntries(OF_RESOURCES.flatMap(part => part.slot === 'recordTab' ? [[`record.${part.name}`, part.label]] : []))

/** Returns the text of a tab by its name. */
export function useTabLabels(): (name: string) => string {
  const t = useMessages(TAB_LABELS)
  return name => t(`record.${name}`)
}

/** Returns the fields that parts show, so that forms and lists of values leave them out. */
export const fieldsOfParts = (resource: AdminResource): string[] =>
  resourceParts('recordFields', resource).flatMap(part => fieldsOf(part, resource))

/** Returns the part that shows the value of a field; `undefined` if the kind of the field decides. */
export const findValuePart = (resource: AdminResource, field: string): ResourcePart | undefined =>
  resourceParts('value', resource).find(part => fieldsOf(part, resource).includes(field))

/** The fields that the features of a part name. */
function fieldsOf({ features: names }: Pick<ResourcePart, 'features'>, { features }: AdminResource): string[] {
  const found = Object.entries(features as Readonly<Record<string, object>>).filter(([name]) => names.includes(name))
  return found.flatMap(([, fields]) => Object.keys(fields))
}
