/** The sizes of files. */

const UNITS = ['B', 'kB', 'MB', 'GB'] as const

/** Returns `48 kB`. */
export function toSize(bytes: number): string {
  const unit = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)))
  return `${Number((bytes / 1000 ** unit).toPrecision(3))} ${UNITS[unit]}`
}
