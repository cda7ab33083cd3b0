/** Where the links of a page lead on the site. On GitHub and in the package, they are relative to the file. */
import { posix } from 'node:path'

/** `1.start/2.starters.md` → `/start/starters` */
export const toRoute = (file: string): string =>
  `/${file.replace(/\.md$/, '').split('/').map(part => part.replace(/^\d+\./, '')).join('/')}`

/**
 * @param file the page, relative to the folder of the docs
 * @param link the link as it is written
 * @param repository the URL of the repository, or '' if there is none
 * @returns undefined for a file of the repository if it has no URL
 */
export function resolveLink(file: string, link: string, repository: string): string | undefined {
  if (/^(?:[a-z]+:|#|\/)/.test(link)) return link
  const [path, anchor] = link.split('#') as [string, string?]
  const target = posix.join('docs', posix.dirname(file), path)
  const hash = anchor === undefined ? '' : `#${anchor}`
  if (/^docs\/\d+\.[^/]+\/\d+\.[^/]+\.md$/.test(target)) return toRoute(target.slice('docs/'.length)) + hash
  if (target.startsWith('docs/images/')) return target.slice('docs'.length)
  return repository === '' ? undefined : `${repository}/blob/main/${target}${hash}`
}

/** Returns the anchor of a heading, as GitHub and the links of the pages write it. */
export const toAnchor = (heading: string): string =>
  heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').trim().replace(/\s/g, '-')
