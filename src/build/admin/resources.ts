/** Checks the options of the admin against the registered resources. */
import { didYouMean } from '../../runtime/shared/suggest'
import type { AdminConfig } from '../../runtime/shared/types/admin'
import type { Problem } from '../problem'

/** Reports permissions, options and paths that do not fit the registered resources. */
export function checkAdminResources({ pages, resources }: AdminConfig, names: readonly string[]): Problem[] {
  const unknown = (name: string, where: string): Problem[] => names.includes(name)
    ? []
    : [{ where, what: `names \`${name}\`, which is not a registered resource`, instead: didYouMean(name, names).trim() || 'Register it.' }]
  return [
    ...pages.flatMap(({ permissions, path }, index) => {
      const where = `autoAdmin.customPages[${index}]`
      const first = path.split('/')[1]!
      return [
        ...permissions.flatMap(([name], at) => unknown(name, `${where}.permissions[${at}]`)),
        ...names.includes(first)
          ? [{ where: `${where}.path`, what: `begins with the name of the resource \`${first}\``, instead: 'Choose another path.' }]
          : [],
      ]
    }),
    ...Object.keys(resources).flatMap(name => unknown(name, `autoAdmin.resources.${name}`)),
  ]
}
