/** The settings of the admin, and the part of them that one caller receives: the response of `GET /_admin`. */
import type { DescribedCapabilities } from './description'

/** The name of the product in the sidebar. */
export interface AdminBranding {
  /** @default 'Admin' */
  readonly name?: string
  /** The URL of an image, such as `/logo.svg`. */
  readonly logo?: string
}

/** How the admin shows a field. */
export interface AdminFieldOptions {
  readonly label?: string
  /** A text below the field of the form. */
  readonly help?: string
  /** A widget of the admin, such as `textarea`. */
  readonly widget?: AdminWidget
  /**
   * The texts of the values of an enum.
   * @default `metadata.fields.<name>.labels` of the registration, else the value as words
   * @example { in_review: 'Waits for an editor' }
   */
  readonly labels?: Readonly<Record<string, string>>
  /**
   * The colors of the values of an enum.
   * @default `metadata.fields.<name>.colors` of the registration, else green, orange or red for usual words such as `published`
   */
  readonly colors?: Readonly<Record<string, AdminColor>>
  /** The path of a component that replaces the widget. Its props are `modelValue`, `field` and `disabled`. */
  readonly component?: string
}

/** How the admin shows a resource. */
export interface AdminResourceOptions {
  readonly label?: string
  /** One record in a text such as `New post`. */
  readonly singular?: string
  /** The name of an icon, such as `i-lucide-file-text`. */
  readonly icon?: string
  /**
   * The columns of the list, in order: fields, and numbers of related records such as `comments.$count`. Columns that the caller cannot
   * read are left out.
   */
  readonly columns?: readonly string[]
  /**
   * Whether the navigation leaves the resource out. Its pages still exist.
   * @default false. `true` for resources whose lists a view of a plugin replaces
   */
  readonly hidden?: boolean
  readonly fields?: Readonly<Record<string, AdminFieldOptions>>
}

/** The widgets that a field can have instead of the one for its kind. */
export const ADMIN_WIDGETS = [
  'text', 'textarea', 'number', 'switch', 'select', 'date', 'datetime', 'json', 'markdown', 'color', 'url', 'email',
] as const

export const ADMIN_COLORS = ['success', 'warning', 'error', 'info', 'primary', 'neutral'] as const

/** The color of a badge. */
export type AdminColor = typeof ADMIN_COLORS[number]

export type AdminWidget = typeof ADMIN_WIDGETS[number]

/** The files of a component in the browser. */
export interface AdminChunk {
  /** The URL of the JavaScript module whose default export is the component. */
  readonly script: string
  readonly styles: readonly string[]
}

/** A page of the app that the caller can open. */
export interface AdminPage {
  /** The path below the prefix of the admin, such as `/reports`. */
  readonly path: string
  readonly label: string
  readonly icon?: string
  readonly chunk: AdminChunk
}

export type AdminField = Omit<AdminFieldOptions, 'component'> & { readonly chunk?: AdminChunk }

/** A resource that the caller can use. Label, singular and icon are those of the options, else those of the registration's `metadata`. */
export type AdminResource = Omit<AdminResourceOptions, 'fields' | 'label'> & {
  readonly label: string
  readonly capabilities: DescribedCapabilities
  readonly fields: Readonly<Record<string, AdminField>>
  readonly features: AdminFeatures
}

/**
 * What plugins add to a resource. A feature that the caller cannot use is absent.
 * @example
 * declare module 'nuxt-auto-api/kit' {
 *   interface AdminFeatures { readonly likes?: true }
 * }
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- plugins augment it
export interface AdminFeatures {}

/** The name of a view without a resource, such as `permissions`. Plugins add views. */
export type AdminTool = string

/** A view of a plugin, at `/-/<name>` below the prefix of the admin. Callers open it whom `tools` of `provideAdmin` permits it. */
export interface AdminViewOptions {
  /** The path of the component. */
  readonly component: string
  /** The text in the navigation. In the texts of the app, it has the name of the view as its key. */
  readonly label: string
  /** @default 'i-lucide-app-window' */
  readonly icon?: string
  /**
   * The feature of the resources whose lists the view replaces. The navigation leaves these resources out.
   * @default none
   */
  readonly replaces?: string
}

/** At the end of the overview. It has no properties. */
interface OverviewPart {
  readonly slot: 'overview'
  readonly component: string
  /** The part is shown to callers who can use the tool. */
  readonly tool: AdminTool
}

interface ResourcePart {
  readonly component: string
  /** The part is shown if the caller can use one of these features of the resource. */
  readonly features: readonly string[]
}

/** Beside the menus of a list. Its properties are `resource` and `query`: the sort and the filter of the list. */
interface ListMenuPart extends ResourcePart {
  readonly slot: 'listMenu'
}

/** A tab of a record. Its properties are `resource`, `id` and `canUpdate`. */
interface RecordTabPart extends ResourcePart {
  readonly slot: 'recordTab'
  /** Its parameter in the URL: `?tab=<name>`. */
  readonly name: string
  /** The text of the tab. In the texts of the app, its key is `record.<name>`. */
  readonly label: string
}

/**
 * The fields of a record that the features name: each feature is an object by field. Forms leave these fields out. Its properties are
 * `resource`, `record` (absent while it is created), `locked` (the form has unsaved changes) and `readOnly`.
 */
interface RecordFieldsPart extends ResourcePart {
  readonly slot: 'recordFields'
}

/** The value of such a field, in a list or a record. Its properties are `resource`, `name` (the field) and `row`. */
interface ValuePart extends ResourcePart {
  readonly slot: 'value'
}

/** A component that a plugin adds to a view of the admin. Its slot decides where it is, and which properties it has. */
export type AdminPartOptions = OverviewPart | ListMenuPart | RecordTabPart | RecordFieldsPart | ValuePart

/** What a plugin adds to the pages of the admin. The browser loads a component when a page shows it for the first time. */
export interface AdminExtension {
  /** Views by name, in the order of the navigation. */
  readonly views?: Readonly<Record<string, AdminViewOptions>>
  readonly parts?: readonly AdminPartOptions[]
  /** Options of a plugin that the queries of the admin have, such as `{ live: true }`. They have no effect without the plugin. */
  readonly queries?: Readonly<Record<string, unknown>>
}

/** The resource of the users, and the field with their name. */
export interface AdminUsers {
  readonly resource: string
  readonly label?: string
}

/** What one caller receives. It contains only the pages, resources and fields that the caller can use. */
export interface AdminAccess {
  readonly branding: AdminBranding
  readonly pages: readonly AdminPage[]
  /** The views without a resource that the caller can open, in the order in which plugins are installed. */
  readonly tools: readonly AdminTool[]
  /** Absent if no resource of users is known, or the caller cannot read it. */
  readonly users?: AdminUsers
  /** Every resource that the caller can use, by name, in the order of their registration. */
  readonly resources: Readonly<Record<string, AdminResource>>
}

/** Which rows the operations of the caller reach. It contains no rule: only what the caller notices in lists and 404s. */
export interface AdminRowLimits {
  /** Whether the caller reaches only rows of one tenant. */
  readonly tenant: boolean
  /** The operations for which a rule can hide rows of the resource. */
  readonly limited: readonly (keyof DescribedCapabilities)[]
}

/** The response of `GET /_admin/rows`, for the resources that the caller can use. */
export interface AdminRows {
  readonly resources: Readonly<Record<string, AdminRowLimits>>
}

/** A page of the app and the permissions that it requires. */
export interface AdminPageOptions {
  readonly path: string
  readonly label: string
  readonly icon?: string
  readonly component: string
  readonly permissions: readonly (readonly [resource: string, operation: string])[]
}

/** All settings, on the server only. */
export interface AdminConfig {
  /** Whether a middleware of the app decides who enters. */
  readonly hasMiddleware: boolean
  readonly branding: AdminBranding
  readonly pages: readonly AdminPageOptions[]
  readonly resources: Readonly<Record<string, AdminResourceOptions>>
}
