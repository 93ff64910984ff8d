import type * as models from "@kubernetes/client-node"
import type { Wire } from "../../../apimachinery/object.ts"

export type JobSpec = Wire<models.V1JobSpec>
