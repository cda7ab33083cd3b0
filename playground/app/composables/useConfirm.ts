/** Asks before an action. The function resolves to whether the user has confirmed it. */
import ConfirmDialog from '../components/ConfirmDialog.vue'

export function useConfirm() {
  const dialog = useOverlay().create(ConfirmDialog)
  return async (text: { title: string, description: string, action: string }): Promise<boolean> => await dialog.open(text) === true
}
