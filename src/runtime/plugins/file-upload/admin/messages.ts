/** Texts of the fields that hold files. The app can replace each of them. */

export const MESSAGES = {
  'file.drop': 'Drop a file here, paste it, or choose one',
  'file.drop.now': 'Drop the file to upload it',
  'file.limits': '{types}, up to {size}',
  'file.limits.size': 'Up to {size}',
  'file.replace': 'Replace',
  'file.replaceOf': 'Replace {name}',
  'file.uploading': 'Uploading {name}',
  'file.cancel': 'Cancel the upload',
  'file.tooLarge': '{name} is too large. A file has at most {size}.',
  'file.notAccepted': '{name} has a type that this field does not take.',
  'file.saveFirst': 'Save or discard your changes first. Then you can change files.',
  'file.afterCreate': 'Save the record first. Then you can add files.',
  'file.remove': 'Remove {name}',
  'file.remove.title': 'Remove {name}?',
  'file.remove.help': 'The file is deleted. This cannot be undone.',
  'file.remove.confirm': 'Remove',
  'file.uploaded': 'The file is saved.',
  'file.removed': 'The file is removed.',
} as const
