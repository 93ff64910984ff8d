import type { Database } from "./database.ts"

/** The first key of a range; undefined if it is empty. */
export async function firstKey<K extends string | Buffer>(
  database: Database,
  range: { gte?: K; lt?: K; reverse?: boolean; keyEncoding: "utf8" | "buffer" },
): Promise<K | undefined> {
  await using keys = database.keys<K>(range)
  const [first] = await keys.nextv(1)
  return first
}
