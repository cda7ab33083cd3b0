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
  /** The columns of the list, in order. Columns that the caller cannot read are left out. */
  readonly columns?: readonly string[]
  /**
   * Whether the navigation leaves the resource out. Its pages still exist.
   * @default false. `true` for API tokens and the audit log, which have views of their own
   */
  readonly hidden?: boolean
  readonly fields?: Readonly<Record<string, AdminFieldOptions>>
}

/** The widgets that a field can have instead of the one for its kind. */
export const ADMIN_WIDGETS = [
  'text', 'textarea', 'number', 'switch', 'select', 'date', 'datetime', 'json', 'color', 'url', 'email',
] as const

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

/** What plugins add to a resource. A feature that the caller cannot use is absent. */
export interface AdminFeatures {
  /** The formats of an export, the default first. */
  readonly exportFormats?: readonly ('csv' | 'json' | 'ndjson')[]
  readonly import?: true
  /** Whether the caller can read the history of records. */
  readonly history?: true
  /** The fields that hold files. `maxSize` is a number of bytes. */
  readonly files?: Readonly<Record<string, { readonly accept: readonly string[], readonly maxSize: number, readonly multiple: boolean }>>
  /** Whether the records are API tokens. */
  readonly tokens?: true
  /** Whether the records are the entries of the audit log. */
  readonly auditLog?: true
}

/** The views without a resource. */
export const ADMIN_TOOLS = ['tokens', 'audit', 'activity', 'permissions'] as const

export type AdminTool = typeof ADMIN_TOOLS[number]

/** The resource of the users, and the field with their name. */
export interface AdminUsers {
  readonly resource: string
  readonly label?: string
}

/** What one caller receives. It contains only the pages, resources and fields that the caller can use. */
export interface AdminAccess {
  readonly branding: AdminBranding
  readonly pages: readonly AdminPage[]
  /** The views without a resource that the caller can open. */
  readonly tools: readonly AdminTool[]
  /** Absent if no resource of users is known, or the caller cannot read it. */
  readonly users?: AdminUsers
  /** Every resource that the caller can use, by name, in the order of their registration. */
  readonly resources: Readonly<Record<string, AdminResource>>
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
