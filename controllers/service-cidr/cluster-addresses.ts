// The addresses of a Service in the cluster.

import type { Service } from "../../apimachinery/object.ts"
import { canonicalAddress } from "../canonical-address.ts"

/** The Service of the API itself belongs to every tenant, and its addresses have no IPAddress. */
const isApi = ({ metadata }: Service): boolean => metadata.namespace === "default" && metadata.name === "kubernetes"

/** Those with an IPAddress. */
export const shownAddresses = (service: Service): readonly string[] => (isApi(service) ? [] : clusterAddresses(service))

/** As IPAddresses are named. */
export const clusterAddresses = ({ spec }: Service): readonly string[] =>
  (spec?.clusterIPs ?? (spec?.clusterIP === undefined ? [] : [spec.clusterIP])).flatMap(
    (address) => canonicalAddress(address) ?? [],
  )
