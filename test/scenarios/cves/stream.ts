/** Follows the live updates of a resource while other callers write. */
import type { CallerName, World } from './world'

type Write = readonly [as: CallerName, method: string, path: string]

/** Returns the ids of the events that the follower gets. The last write has to be visible to it: it ends the wait. */
export async function changesSeenBy(world: World, as: CallerName, resource: string, writes: readonly Write[]): Promise<unknown[]> {
  const user = world.users.get({ ada: 1, eve: 3, admin: 4, anonymous: 0 }[as])
  const response = await world.server.fetch(new Request(`http://localhost/api/_live?resources=${resource}`), {
    user: { ...user }, permissions: user?.permissions,
  } as never)
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  let text = ''
  const readTo = async (isDone: () => boolean) => {
    while (!isDone()) {
      const { done, value } = await reader.read()
      if (done) return
      text += decoder.decode(value)
    }
  }
  await readTo(() => text.includes('\n\n'))
  const opened = text.length
  for (const [by, method, path] of writes) {
    const { status, text: answer } = await world.send({ as: by, method, path, body: { views: 99 } })
    if (status !== 200) throw new Error(answer)
  }
  const last = Number(writes.at(-1)![2].split('/').at(-1))
  const seen = () => [...text.slice(opened).matchAll(/"id":"(\d+)"/g)].map(([, id]) => Number(id))
  await readTo(() => seen().includes(last))
  await reader.cancel()
  return seen()
}
