/** The options of the activity feed. */
import { isObject } from '../../shared/is-object'
import { didYouMean } from '../../shared/suggest'
import { assertOptions } from '../../server/plugin/options'
import type { PluginServer } from '../../server/plugin/server'
import { isName, type OptionRules } from '../../shared/option-rule'

/** The permission that the feed requires. */
export const PERMISSION = 'activity:read'

export interface ActivityFeedOptions {
  /** The resource of the users, and the text field with their name. */
  readonly actor: { readonly resource: string, readonly label: string }
  /**
   * The text field with the title of a record, by resource.
   * @default {}
   */
  readonly labels?: Readonly<Record<string, string>>
}

const RULES: OptionRules<ActivityFeedOptions> = {
  actor: {
    fits: value => isObject(value) && Object.keys(value).sort().join() === 'label,resource' && Object.values(value).every(isName),
    use: 'an object with the `resource` of the users and the `label`, a field',
    required: true,
  },
  labels: { fits: value => isObject(value) && Object.values(value).every(isName), use: 'an object of field names by resource' },
}

/** @throws TypeError for an option that is unknown or invalid. */
export function assertActivityOptions(options: ActivityFeedOptions): void {
  assertOptions(options, RULES, 'activityFeed')
}

/** @throws When a label is not a text field of a registered resource. */
export function assertLabels({ actor, labels = {} }: ActivityFeedOptions, { resources }: PluginServer): void {
  const named = [['actor', actor.resource, actor.label], ...Object.entries(labels).map(([name, field]) => [`labels.${name}`, name, field])]
  for (const [option, name, field] of named as [string, string, string][]) {
    const resource = resources.get(name)
    const where = `[auto-api] \`activityFeed.${option}\` names`
    if (!resource) throw new Error(`${where} \`${name}\`, which is not a registered resource.${didYouMean(name, [...resources.keys()])}`)
    const { kind } = resource.fields.get(field) ?? {}
    if (kind === undefined)
      throw new Error(`${where} \`${field}\`, which is no field of \`${name}\`.${didYouMean(field, [...resource.fields.keys()])}`)
    if (kind !== 'text') throw new Error(`${where} \`${field}\` of \`${name}\`, which is not a text field.`)
  }
}
