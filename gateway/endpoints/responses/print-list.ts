// Prints lists whose items must be transformed (Table, metadata, YAML, indented JSON) a few items at a time, so that other requests
// are served in between: 50,000 objects in YAML take seconds. The result equals that of printing the whole list.

import { checkAwaited } from "../../registry/generic/list-watch/read-pieces.ts"
import type { RequestContext } from "../../request/context.ts"
import type { Negotiated } from "../negotiation.ts"
import { printed } from "./print.ts"

/** Items printed before others may have their turn. */
const stretch = 20

/** A list whose items are under `key`, which must be the last field. */
export type PrintableList = Readonly<Record<string, unknown>>

type TextForm = Pick<Negotiated, "pretty"> & { format: "json" | "yaml" }

/** `make` returns the list with the items of the given range. */
export async function printedInPieces(
  ctx: Pick<RequestContext, "pause" | "isOver">,
  key: string,
  count: number,
  make: (from: number, to: number) => PrintableList,
  form: TextForm,
): Promise<Buffer[]> {
  const pieces: Buffer[] = []
  let ending = ""
  for (let from = 0; from < count; from += stretch) {
    await ctx.pause?.()
    checkAwaited(ctx)
    const list = make(from, Math.min(from + stretch, count))
    const isFirst = from === 0
    if (isFirst) {
      const [before, after] = around(list, key, form)
      pieces.push(Buffer.from(before))
      ending = after
    }
    pieces.push(Buffer.from((isFirst ? "" : betweenItems(form)) + itemsOf(list, key, form)))
  }
  pieces.push(Buffer.from(ending))
  return pieces
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

function itemsOf(list: PrintableList, key: string, form: TextForm): string {
  const text = printed({ [key]: list[key] }, form).toString()
  if (form.format === "yaml") return text.slice(`${key}:\n`.length)
  return form.pretty
    ? text.slice(text.indexOf("[\n") + 2, text.lastIndexOf("\n  ]"))
    : text.slice(text.indexOf("[") + 1, text.lastIndexOf("]"))
}
