/** Parses the links in the body of a write: `{ tags: { link: [id], unlink: [id] } }`. */
import { LINK_ACTIONS, type LinkAction } from '../../../shared/nested'
import type { NestedLinks } from '../../schema/model'
import { toId, toKey } from '../../schema/record-id'
import { assertRemovable, authorizeLink, LINK_MODE_OF, requireManyToMany } from '../access/links'
import { placed, unknownIds, type Issue } from '../error'
import type { Call } from '../request/session'
import type { LinkItems } from './write-item'

/**
 * Each action has the permissions of the relation route.
 * @param lists the ids by action
 * @param count is called for each id
 * @throws The first error that is no issue of validation, with its place. Issues are added to `issues`.
 */
export async function parseNestedLinks(
  nested: NestedLinks, lists: Readonly<Partial<Record<LinkAction, readonly unknown[]>>>, call: Call, count: () => void, issues: Issue[],
): Promise<readonly LinkItems[]> {
  const { relation, relation: { name, target } } = nested
  const links: LinkItems[] = []
  const actions = new Map<string, LinkAction>()
  for (const action of LINK_ACTIONS) {
    const entries = lists[action]
    if (!entries) continue
    const mode = LINK_MODE_OF[action]
    await placing([name, action], async () => authorizeLink(await requireManyToMany(name, call), mode, call))
    const positions = new Map<string, number>()
    const unknown: string[] = []
    for (const [index, entry] of entries.entries()) {
      const path = [name, action, index]
      if (typeof entry !== 'string' && typeof entry !== 'number') {
        issues.push({ path, message: 'Expected an id.', code: 'invalid_type' })
        continue
      }
      await placing(path, count)
      const key = toKey(target, String(entry))
      const id = key ? toId(target, key) : String(entry)
      const other = actions.get(id) ?? action
      if (other !== action) issues.push({ path, message: `The id is in \`${other}\`, too.`, code: 'custom' })
      else if (!positions.has(id)) positions.set(id, index)
      if (!key) unknown.push(id)
      actions.set(id, action)
    }
    if (unknown.length > 0) throw placed(unknownIds(name, unknown), [name, action, positions.get(unknown[0]!)!])
    await placing([name, action], () => assertRemovable(relation, mode))
    links.push({ nested, action, mode, positions })
  }
  return links
}

async function placing(path: readonly (string | number)[], run: () => unknown): Promise<void> {
  try {
    await run()
  }
  catch (error) {
    throw placed(error, path)
  }
}
