// The addresses of a Service in the cluster.

import type { Service } from "../../apimachinery/object.ts"
import { canonicalAddress } from "../canonical-address.ts"

/** As IPAddresses are named. */
export const clusterAddresses = ({ spec }: Service): readonly string[] =>
  (spec?.clusterIPs ?? (spec?.clusterIP === undefined ? [] : [spec.clusterIP])).flatMap(
    (address) => canonicalAddress(address) ?? [],
  )
