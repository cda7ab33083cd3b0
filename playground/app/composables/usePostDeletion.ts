/** Deletes posts: shows what a delete cascades to, and offers to undo it. */

/** @param afterwards runs when the lists are up to date, after a delete and after its undo */
export function usePostDeletion(afterwards: () => void) {
  const toast = useToast()
  const confirm = useConfirm()
  const { can } = useAutoApiPermissions('posts')

  const preview = useAutoApiDelete('posts', { dryRun: true })
  const remove = useAutoApiDelete('posts')
  const restore = useAutoApiRestore('posts')

  async function drop({ id, title }: { id: number, title: string }) {
    const { affected } = await preview.mutateAsync(id)
    const comments = affected.comments ?? 0
    const isConfirmed = comments === 0 || await confirm({
      title: `Delete “${title}”?`,
      description: `${comments} ${comments === 1 ? 'comment moves' : 'comments move'} to the trash with the post.`,
      action: 'Delete',
    })
    if (!isConfirmed) return
    const { deletionId } = await remove.mutateAsync({ id, reason: 'removed at the desk' })
    afterwards()
    toast.add({
      title: `“${title}” is in the trash.`,
      actions: deletionId && can('restore') ? [{ label: 'Undo', color: 'neutral', variant: 'outline', onClick: () => undo(deletionId, title) }] : [],
    })
  }

  async function undo(deletionId: string, title: string) {
    await restore.mutateAsync({ deletionId })
    toast.add({ title: `“${title}” is back, with its comments.`, color: 'success' })
    afterwards()
  }

  const writes = [preview, remove, restore]
  const isPending = computed(() => writes.some(({ isPending }) => isPending.value))
  return {
    /** Does nothing while another delete runs: a disabled button would lose the focus. Does not reject: `error` has the reason of a failure. */
    drop: async (post: { id: number, title: string }) => isPending.value ? undefined : drop(post).catch(() => {}),
    isPending,
    error: computed(() => writes.map(({ error }) => error.value).find(error => error)),
  }
}
