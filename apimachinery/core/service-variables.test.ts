import { expect, test } from "vitest"
import { serviceVariables } from "./service-variables.ts"

test("the variables have brackets, protocols and port names", () => {
  const variables = [
    ...serviceVariables([
      {
        name: "my-db",
        clusterIP: "fd00::1",
        ports: [
          { name: "sql-x", port: 5432 },
          { port: 53, protocol: "UDP" },
        ],
      },
      { name: "none", clusterIP: "10.0.0.3", ports: [] },
    ]),
  ]
  expect(variables.map(({ name, value }) => `${name}=${value}`)).toEqual([
    "MY_DB_SERVICE_HOST=fd00::1",
    "MY_DB_SERVICE_PORT=5432",
    "MY_DB_SERVICE_PORT_SQL_X=5432",
    "MY_DB_PORT=tcp://[fd00::1]:5432",
    "MY_DB_PORT_5432_TCP=tcp://[fd00::1]:5432",
    "MY_DB_PORT_5432_TCP_PROTO=tcp",
    "MY_DB_PORT_5432_TCP_PORT=5432",
    "MY_DB_PORT_5432_TCP_ADDR=fd00::1",
    "MY_DB_PORT_53_UDP=udp://[fd00::1]:53",
    "MY_DB_PORT_53_UDP_PROTO=udp",
    "MY_DB_PORT_53_UDP_PORT=53",
    "MY_DB_PORT_53_UDP_ADDR=fd00::1",
  ])
})
