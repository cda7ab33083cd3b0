/** Rules for the values of the admin's options. To add an option, add a row here and its type. */
import { isObject } from '../../runtime/shared/is-object'
import { ADMIN_COLORS, ADMIN_WIDGETS, type AdminPartOptions } from '../../runtime/shared/types/admin'
import { flag, type OptionRule } from '../../runtime/shared/option-rule'

export type Rules = Readonly<Record<string, OptionRule>>

export const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''
const isTextList = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText)
const text: OptionRule = { fits: isText, use: 'a text' }
const valuesFit = (fits: (value: unknown) => boolean) => (values: unknown) => isObject(values) && Object.values(values).every(fits)
const records: OptionRule = { fits: isObject, use: 'an object by name' }
const path: OptionRule = {
  fits: value => typeof value === 'string' && /^(?:\/[\w~][\w.~-]*)+$/.test(value),
  use: 'a path such as `/reports` that starts with a slash and has no parameters',
}

export const OPTIONS: Rules = {
  prefix: { ...path, use: 'a path such as `/admin` that starts with a slash and has no parameters' },
  middleware: { fits: isText, use: 'the name of a route middleware' },
  customPages: { fits: value => Array.isArray(value), use: 'a list of pages' },
  resources: records,
  branding: { fits: isObject, use: 'an object with `name` and `logo`' },
}

export const PAGE: Rules = {
  path: { ...path, required: true },
  label: { ...text, required: true },
  icon: text,
  component: { fits: isText, use: 'the path of a component', required: true },
  permissions: {
    fits: isTextList, required: true,
    use: 'a list such as `[\'posts:update\']`, or `[]` for everyone who can open the admin',
  },
}

export const RESOURCE: Rules = {
  label: text, singular: text, icon: text,
  columns: { fits: isTextList, use: 'a list of field names, and of numbers of related records such as `comments.$count`' },
  hidden: flag,
  fields: records,
}

export const FIELD: Rules = {
  label: text, help: text,
  widget: { fits: value => (ADMIN_WIDGETS as readonly unknown[]).includes(value), use: `one of ${ADMIN_WIDGETS.join(', ')}` },
  component: { fits: isText, use: 'the path of a component' },
  labels: { fits: valuesFit(isText), use: 'an object with a text for each value, such as `{ draft: \'Not published\' }`' },
  colors: {
    fits: valuesFit(value => (ADMIN_COLORS as readonly unknown[]).includes(value)),
    use: `an object with a color for each value: ${ADMIN_COLORS.join(', ')}`,
  },
}

export const BRANDING: Rules = { name: text, logo: text }

const component: OptionRule = { fits: isText, use: 'the path of a component', required: true }
export const NAME: OptionRule = {
  fits: value => typeof value === 'string' && /^[a-z][\w-]*$/i.test(value),
  use: 'a name of letters, digits, `-` and `_` that begins with a letter',
  required: true,
}
const features: OptionRule = { fits: value => isTextList(value) && value.length > 0, use: 'a list of features', required: true }

export const EXTENSION: Rules = {
  views: records,
  parts: { fits: value => Array.isArray(value), use: 'a list of parts' },
  queries: { fits: isObject, use: 'an object of options' },
}

export const VIEW: Rules = { label: { ...text, required: true }, icon: text, component, replaces: text }

/** What a part of each slot has. */
export const PARTS: Readonly<Record<AdminPartOptions['slot'], Rules>> = {
  overview: { slot: text, component, tool: NAME },
  listMenu: { slot: text, component, features },
  recordTab: { slot: text, component, features, name: NAME, label: { ...text, required: true } },
  recordFields: { slot: text, component, features },
  value: { slot: text, component, features },
}
