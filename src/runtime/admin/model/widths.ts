/** The widths of the columns of a list, in pixels. */

export const NARROWEST = 64
export const WIDEST = 960

/** A cookie can contain anything. */
export function toWidths(value: unknown): Record<string, number> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {}
  return Object.fromEntries(Object.entries(value).flatMap(([name, width]) =>
    typeof width === 'number' && Number.isFinite(width) ? [[name, clampWidth(width)]] : []))
}

export const clampWidth = (width: number): number => Math.round(Math.min(WIDEST, Math.max(NARROWEST, width)))
