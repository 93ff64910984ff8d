// The child of replica-failure.test.ts: one gateway on an etcd, until it is killed. Says where it listens.

import { silentLog } from "../../../client/log.ts"
import { Gateway } from "../../../gateway/main.ts"
import { countingAddresses } from "../../../gateway/testing/start-gateway.ts"

const gateway = await Gateway.start({
  dataDir: "",
  etcd: { servers: (process.argv[2] ?? "").split(",") },
  serviceAddresses: () => countingAddresses(),
  log: silentLog,
})
console.log(JSON.stringify({ url: gateway.url, ...gateway.administrator, authority: gateway.certificateAuthority }))
