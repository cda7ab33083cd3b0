/** Saves and discards the changes of a form. Both can be undone. */
import { nextTick, ref, type Ref } from 'vue'
import type { RecordId } from '../../shared/types/resources'
import type { Row } from '../../app/any-resource'
import type { AnyForm } from '../../app/form/types'
import { AutoApiError, autoApiTag, useAutoApiUpdate } from '../../app/index'
import { earlierValues, keepChanges } from '../model/form-changes'
import { useMessages } from '../model/messages'
import { useToast } from '../model/nuxt'

interface FormActions {
  /** Whether the dialog with both versions of the record is open. */
  readonly conflictOpen: Ref<boolean>
  readonly save: () => Promise<Row | undefined>
  readonly discard: () => Promise<void>
  /** Solves a conflict. */
  readonly keepMine: (values: Row) => Promise<void>
}

/**
 * @param element the element of the form
 * @param label returns the name of a record
 */
export function useFormActions(
  resource: string, id: () => RecordId | undefined, form: AnyForm,
  element: Readonly<Ref<HTMLElement | null>>, label: (record: Row) => string,
): FormActions {
  const t = useMessages()
  const toast = useToast()
  const conflictOpen = ref(false)

  let tag: string | undefined
  const undo = useAutoApiUpdate(resource, { ifMatch: () => tag ?? false })

  /** Writes the values that the record had before, unless somebody has changed it since. */
  async function revert(key: RecordId, values: Row, version: string | undefined) {
    tag = version
    try {
      await undo.mutateAsync({ ...values, id: key })
      toast.add({ title: t('record.undone'), color: 'success', icon: 'i-lucide-undo-2' })
    }
    catch (error) {
      if (!(error instanceof AutoApiError)) throw error
      toast.add({ title: t('record.undo.failed'), description: error.message, color: 'error', icon: 'i-lucide-triangle-alert' })
    }
  }

  function tell(written: Row, wasNew: boolean, earlier?: Row) {
    const key = id()
    const version = autoApiTag(written)
    const canUndo = earlier !== undefined && key !== undefined && version !== undefined
    toast.add({
      title: t(wasNew ? 'record.created' : 'record.saved', { label: label(written) }), color: 'success', icon: 'i-lucide-check',
      actions: canUndo
        ? [{ label: t('undo'), color: 'neutral', variant: 'outline', onClick: () => void revert(key, earlier, version) }]
        : [],
    })
  }

  /** Moves the focus to the first field with a problem. */
  async function focusProblem() {
    await nextTick()
    element.value?.querySelector<HTMLElement>('[aria-invalid="true"], [data-slot="error"]')?.focus()
  }

  /** The bar with the buttons disappears with the changes. The focus stays in the form. */
  function keepFocus(): () => Promise<void> {
    const wasInBar = document.activeElement?.closest('[data-save-bar]') !== null
    return async () => {
      await nextTick()
      if (wasInBar && !element.value?.contains(document.activeElement)) element.value?.focus({ preventScroll: true })
    }
  }

  return {
    conflictOpen,
    async save() {
      const wasNew = form.isNew.value
      if (form.isPending.value || (!wasNew && !form.isDirty.value)) return undefined
      const unreadable = element.value?.querySelector<HTMLElement>('[data-unreadable]')
      if (unreadable) {
        unreadable.focus()
        return undefined
      }
      const earlier = wasNew ? undefined : earlierValues(form)
      const focus = keepFocus()
      const written = await form.submit()
      if (written) {
        tell(written, wasNew, earlier)
        await focus()
      }
      else if (form.conflict.value) conflictOpen.value = true
      else await focusProblem()
      return written
    },
    async discard() {
      const restore = keepChanges(form)
      const focus = keepFocus()
      form.reset()
      toast.add({
        title: t('record.discarded'), color: 'neutral', icon: 'i-lucide-undo-2',
        actions: [{ label: t('undo'), color: 'neutral', variant: 'outline', onClick: restore }],
      })
      await focus()
    },
    async keepMine(values) {
      Object.assign(form.state, values)
      const written = await form.overwrite()
      if (written) tell(written, false)
    },
  }
}
