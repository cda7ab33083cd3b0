/** The deliveries that the example has handled. An app stores the ids in a table, with what it does because of them. */
const ids = new Set<string>()

export const handled = {
  async once(id: string, handle: () => unknown): Promise<void> {
    if (ids.has(id)) return
    await handle()
    ids.add(id)
  },
}
