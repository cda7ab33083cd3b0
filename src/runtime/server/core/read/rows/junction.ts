/** The fields of a junction table. */
import type { ManyToMany } from '../../../schema/model'

export const junctionFields = ({ junction: { resource } }: ManyToMany, names: readonly string[]) =>
  names.map(name => resource.fields.get(name)!)
