// The registry of a kind whose objects are computed on request (ComponentStatus, metrics): it has no revisions and no pages, and its verbs
// exclude writes and watches.

import type { KubeObject } from "../../../apimachinery/object.ts"
import { notFound } from "../../../apimachinery/status.ts"
import type { RequestContext } from "../../request/context.ts"
import { checkListOptions } from "./list-watch/list-options.ts"
import type { ListOptions, ListResult, ListStream } from "../rest.ts"
import { selectionOf } from "./list-watch/selection.ts"
import { GenericRegistry } from "./store.ts"
import { ComputedValue } from "./storage/value.ts"

export class ComputedRegistry extends GenericRegistry {
  override async get(ctx: RequestContext, _namespace: string, name: string): Promise<ComputedValue> {
    const found = (await this.#find(ctx)).find(({ metadata }) => metadata.name === name)
    const { group, singular, resource } = this.definition
    if (found === undefined) throw notFound({ group, resource: singular || resource }, name)
    return new ComputedValue(found)
  }

  override async list(ctx: RequestContext, options: ListOptions): Promise<ListResult> {
    checkListOptions(options)
    const { matches } = selectionOf(this.definition, options)
    const values = (await this.#find(ctx)).map((object) => new ComputedValue(object))
    return { items: values.filter((value) => matches?.(value) !== false), resourceVersion: "" }
  }

  override async stream(ctx: RequestContext, options: ListOptions): Promise<ListStream> {
    const { items, resourceVersion } = await this.list(ctx, options)
    return { resourceVersion, pieces: pieces(items) }
  }

  async #find(ctx: RequestContext): Promise<readonly KubeObject[]> {
    return (await this.definition.find?.(ctx)) ?? []
  }
}

async function* pieces<T>(...all: T[]): AsyncGenerator<T> {
  yield* all
}
