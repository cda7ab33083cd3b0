/** Texts of the fields that hold files. The app can replace each of them. */

export const MESSAGES = {
  'file.choose': 'Choose a file for {label}',
  'file.saveFirst': 'Save or discard your changes first. Then you can change files.',
  'file.afterCreate': 'Save the record first. Then you can add files.',
  'file.remove': 'Remove {name}',
  'file.uploaded': 'The file is saved.',
  'file.removed': 'The file is removed.',
} as const
