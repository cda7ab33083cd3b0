/** Keeps the keyboard focus in a list whose rows disappear: the row that takes the place of a removed one gets it. */
export function useRowFocus(list: Readonly<Ref<HTMLElement | null>>) {
  let index = 0
  const rows = () => [...list.value?.querySelectorAll<HTMLElement>('[data-row]') ?? []]
  return {
    /** Call it before the row is removed. */
    remember() {
      index = Math.max(0, rows().findIndex(row => row.contains(document.activeElement)))
    },
    /** Call it when the row is gone. */
    async settle() {
      await nextTick()
      await dialogClosed()
      if (document.activeElement !== document.body && document.activeElement?.isConnected) return
      const left = rows()
      const row = left[Math.min(index, left.length - 1)]
      const target = row?.querySelector<HTMLElement>('button:not(:disabled), a[href]') ?? list.value
      target?.focus()
    },
  }
}

/** A closing dialog returns the focus to the button that opened it, which may be gone. */
async function dialogClosed() {
  for (let frame = 0; frame < 60 && document.querySelector('[role=dialog]'); frame++)
    await new Promise(resolve => requestAnimationFrame(resolve))
}
