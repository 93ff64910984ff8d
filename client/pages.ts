// A list that may be long, page by page: neither server nor client has to have all of it at once.

import type { KubeObject } from "../apimachinery/object.ts"
import type { KubeList, ListOptions, ListWatch, Resource } from "./rest.ts"

/** Objects per page, as of client-go. */
const pageSize = 500

/** The server forgets where the list was after some minutes, and then throws Expired. */
export async function* pagesOf<T extends KubeObject>(
  client: Pick<ListWatch, "list">,
  resource: Resource,
  options: Omit<ListOptions, "limit" | "continue"> = {},
): AsyncGenerator<KubeList<T>, void> {
  for (let next: string | undefined; ;) {
    const more = next === undefined ? {} : { continue: next }
    const page = await client.list<T>(resource, { ...options, limit: pageSize, ...more })
    yield page
    next = page.metadata.continue
    if (next === undefined || next === "") return
  }
}

export async function listAll<T extends KubeObject>(
  client: Pick<ListWatch, "list">,
  resource: Resource,
  options: Omit<ListOptions, "limit" | "continue"> = {},
): Promise<T[]> {
  const objects: T[] = []
  for await (const { items } of pagesOf<T>(client, resource, options)) for (const object of items) objects.push(object)
  return objects
}
