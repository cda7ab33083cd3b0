/** The cursor of a list: keys move the focus from row to row, select a row and open its page. */
import { useAdminContext } from '../../model/context'
import { useRouter } from '../../model/nuxt'
import { nextRow } from '../../model/shortcuts'
import { useShortcuts } from '../../model/use-shortcuts'

interface Actions {
  readonly resource: () => string
  readonly select: (id: string) => void
}

export function useRowCursor(frame: () => HTMLElement | null, { resource, select }: Actions): void {
  const router = useRouter()
  const { paths } = useAdminContext()
  let last = 0
  const rows = () => [...frame()?.querySelectorAll<HTMLElement>('tr[data-row]') ?? []]
  const current = () => rows().findIndex(row => row.contains(document.activeElement))

  function move(event: KeyboardEvent, step: 1 | -1) {
    const all = rows()
    // Elsewhere, the arrow keys scroll the page.
    if (all.length === 0 || (event.key.startsWith('Arrow') && current() === -1)) return false
    last = nextRow(current(), last, step, all.length)
    const row = all[last]!
    row.querySelector('a')?.focus({ preventScroll: true })
    row.scrollIntoView({ block: 'nearest' })
  }

  /** Calls an action with the id of the row that has the cursor. */
  const onRow = (act: (id: string) => unknown) => {
    const id = rows()[current()]?.dataset.row
    return id === undefined ? false : act(id)
  }

  useShortcuts({
    next: event => move(event, 1),
    previous: event => move(event, -1),
    select: () => onRow(id => void select(id)),
    edit: () => onRow(id => void router.push(paths.record(resource(), id))),
  })
}
