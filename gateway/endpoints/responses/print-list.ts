// Prints lists in YAML or indented JSON a few items at a time, so that other requests are served in between: 50,000 objects in YAML take
// seconds. The result equals that of printing the whole list.

import { requestEntityTooLarge } from "../../../apimachinery/status.ts"
import { checkAwaited } from "../../request/awaited.ts"
import type { RequestContext } from "../../request/context.ts"
import { minThreadBytes } from "../../request/yaml-thread.ts"
import type { Negotiated } from "../negotiation.ts"
import { printed, printing } from "./print.ts"

/** Items printed before others may have their turn, if they are no longer together. */
const stretch = 20
/** In JSON; YAML takes ten times as long. */
const stretchBytes = 64 * 1024

/** A list whose items are under `key`, which must be the last field. */
export type PrintableList = Readonly<Record<string, unknown>>

/** Of the whole text. Beyond: 413. Columns and indentation may make it many times as long as the objects. */
const maxPrintedBytes = 128 * 1024 * 1024

type TextForm = Pick<Negotiated, "pretty"> & { format: "json" | "yaml" }

/** `items`: their lengths. `make` returns the list with the items of the given range. */
export async function printedInPieces(
  ctx: Pick<RequestContext, "pause" | "isOver" | "aside">,
  key: string,
  items: readonly { readonly length: number }[],
  make: (from: number, to: number) => PrintableList,
  form: TextForm,
): Promise<Buffer[]> {
  const pieces: Buffer[] = []
  let bytes = 0
  let ending = ""
  for (let from = 0, to = 0; from < items.length; from = to) {
    await ctx.pause?.()
    checkAwaited(ctx)
    to = endOfStretch(items, from, form)
    const list = make(from, to)
    const isFirst = from === 0
    if (isFirst) {
      const [before, after] = around(list, key, form)
      pieces.push(Buffer.from(before))
      ending = after
    }
    const text = itemsOf(await printing({ [key]: list[key] }, form, ctx.aside), key, form)
    const piece = Buffer.from((isFirst ? "" : betweenItems(form)) + text)
    bytes += piece.length
    if (bytes > maxPrintedBytes)
      throw requestEntityTooLarge(
        `the list has more than ${maxPrintedBytes} bytes in a form that cannot be streamed: ask for pages, with limit`,
      )
    pieces.push(piece)
  }
  pieces.push(Buffer.from(ending))
  return pieces
}

/** At least one. */
function endOfStretch(items: readonly { readonly length: number }[], from: number, { format }: TextForm): number {
  const most = format === "yaml" ? minThreadBytes : stretchBytes
  let bytes = 0
  let to = from
  do bytes += items[to++]?.length ?? 0
  while (to < items.length && to < from + stretch && bytes + (items[to]?.length ?? 0) <= most)
  return to
}

function betweenItems({ format, pretty }: TextForm): string {
  if (format === "yaml") return ""
  return pretty ? ",\n" : ","
}

/** The text before and after the items. */
function around(list: PrintableList, key: string, form: TextForm): [string, string] {
  const text = printed({ ...list, [key]: [] }, form).toString()
  // Unique at the beginning of a line, since nested fields are indented.
  if (form.format === "yaml") {
    const [before = "", after = ""] = text.split(new RegExp(`^${key}: \\[\\]\n`, "m"))
    return [`${before}${key}:\n`, after]
  }
  const at = text.lastIndexOf("[]") + 1
  return form.pretty ? [`${text.slice(0, at)}\n`, `\n  ${text.slice(at)}`] : [text.slice(0, at), text.slice(at)]
}

function itemsOf(bytes: Buffer, key: string, form: TextForm): string {
  const text = bytes.toString()
  if (form.format === "yaml") return text.slice(`${key}:\n`.length)
  return form.pretty && text.startsWith("{\n")
    ? text.slice(text.indexOf("[\n") + 2, text.lastIndexOf("\n  ]"))
    : text.slice(text.indexOf("[") + 1, text.lastIndexOf("]"))
}
