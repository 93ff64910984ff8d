// The encodings of the aggregated document of discovery.

import type { Json } from "../../../apimachinery/object.ts"
import { encodeProtobuf } from "../../../apimachinery/schema/protobuf/encode.ts"
import { discoveryList } from "../../aggregation/discovery-kinds.ts"
import type { RequestContext } from "../../request/context.ts"
import type { Negotiated } from "../negotiation.ts"
import { printing } from "../responses/print.ts"

export function printAggregated(
  list: unknown,
  form: Pick<Negotiated, "format" | "pretty">,
  aside?: RequestContext["aside"],
): Buffer | Promise<Buffer> {
  return form.format === "protobuf" ? encodeProtobuf(discoveryList(), list as Json) : printing(list, form, aside)
}
