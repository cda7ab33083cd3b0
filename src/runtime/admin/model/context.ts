/** What every view knows about the admin: the resources that the caller can use, and the addresses of the views. */
import { computed, inject, provide, type Component, type ComputedRef, type InjectionKey } from 'vue'
import type { AdminAccess, AdminChunk, AdminField, AdminResource, AdminTool } from '../../shared/types/admin'
import type { RecordId } from '../../shared/types/resources'
import { labelOfField } from './records'
import { useSchema, type DescribedResource, type Schema } from './schema'

export interface AdminPaths {
  readonly list: (resource: string) => string
  readonly create: (resource: string) => string
  readonly trash: (resource: string) => string
  readonly record: (resource: string, id: RecordId) => string
  readonly tool: (name: AdminTool) => string
  readonly page: (path: string) => string
  readonly home: string
}

export interface AdminContext {
  readonly access: ComputedRef<AdminAccess>
  readonly paths: AdminPaths
  /** The tools that the caller can use. */
  readonly tools: ComputedRef<readonly AdminTool[]>
  /** Loads a component of the app, such as the widget of a field. */
  readonly load: (key: string, chunk: AdminChunk) => Component
}

const KEY: InjectionKey<AdminContext> = Symbol('auto-admin')

export const provideAdmin = (context: AdminContext): void => provide(KEY, context)

export function useAdminContext(): AdminContext {
  const context = inject(KEY)
  if (!context) throw new Error('[auto-api] This component belongs to the admin and works only inside of it.')
  return context
}

export interface AdminView {
  readonly schema: Schema
  readonly paths: AdminPaths
  /** The description of the resource. */
  readonly described: ComputedRef<DescribedResource>
  /** How the admin shows the resource. */
  readonly options: ComputedRef<AdminResource>
  readonly optionsOf: (field: string) => AdminField | undefined
  /** The label of a field: that of the options, else that of the description. */
  readonly labelOfField: (field: string) => string
}

/** Returns what a view needs about its resource. The shell shows a view only if the caller can use the resource. */
export function useAdminView(name: () => string): AdminView {
  const { access, paths } = useAdminContext()
  const schema = useSchema()
  let last: DescribedResource | undefined
  const described = computed(() => last = schema.find(name()) ?? last!)
  const options = computed(() => access.value.resources[name()]!)
  const optionsOf = (field: string) => {
    const { fields } = options.value
    return Object.hasOwn(fields, field) ? fields[field] : undefined
  }
  return {
    schema, paths, described, options, optionsOf,
    labelOfField(name) {
      return optionsOf(name)?.label ?? labelOfField(described.value, name)
    },
  }
}
