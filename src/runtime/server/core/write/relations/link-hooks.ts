/** The hooks of a record whose links change. */
import type { AutoApiContext } from '../../../registration'
import type { Call } from '../../request/session'
import { runAfterHooks, runHooks, type AnyHook } from '../../request/hooks'
import type { Counts, LinkTask } from './links'

/** What a change of links answers for one relation. */
export type RelationCounts = { readonly relation: string } & Readonly<Counts>

export const resultsOf = (tasks: readonly Pick<LinkTask, 'link' | 'counts'>[]): readonly RelationCounts[] =>
  tasks.map(({ link, counts }) => ({ relation: link.relation.name, ...counts }))

export async function runBeforeLink(tasks: readonly Pick<LinkTask, 'link'>[], ctx: AutoApiContext, call: Call): Promise<void> {
  for (const { link: { relation: { name }, ids } } of tasks)
    await runHooks(call, 'beforeLink', ids, run => (run as AnyHook)(name, ids, ctx))
}

export async function runAfterLink(
  tasks: readonly Pick<LinkTask, 'link' | 'counts'>[], ctx: AutoApiContext, errors: unknown[], call: Call,
): Promise<void> {
  for (const result of resultsOf(tasks))
    await runAfterHooks(call, 'afterLink', result, (run, result) => (run as AnyHook)(result.relation, result, ctx), errors)
}
